/*
 * copy_from.c
 *		Carrying out a COPY FROM; see load.h.
 *
 * PostgreSQL begins and ends the COPY.  In between, we load the part of the input that is plain,
 * and PostgreSQL's CopyFrom() loads the rest: the whole input if it is short, or else what comes
 * from the first odd record on.  So errors are PostgreSQL's own, with line and value, and what is
 * rare needs no code here.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "commands/copyfrom_internal.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/load.h"
#include "load/load_indexes_private.h"
#include "load/load_input_private.h"
#include "load/load_rows_private.h"
#include "load/load_state_private.h"
#include "load/load_statement_private.h"
#include "pg_compat/copy.h"
#include "pg_compat/tables.h"
#include "settings.h"
#include "table/table.h"

/* ---------- what PostgreSQL does ---------- */

static const EolType eol_types[] = {
	[GS_NEWLINE_LF] = EOL_NL,
	[GS_NEWLINE_CR] = EOL_CR,
	[GS_NEWLINE_CRLF] = EOL_CRNL
};

/* Leaves what is in the buffer, and all that follows, to PostgreSQL's COPY. */
static void
leave_rest(GpuSortLoadState *state)
{
	CopyFromState copy = state->copy;
	Size		bytes = state->bytes - state->begin;

	copy->cur_lineno = 0;
	copy->bytes_processed = state->source.bytes - bytes;
	if (state->counts.rows > 0 || state->counts.excluded > 0 || state->has_begun)
	{
		copy->cur_lineno = state->counts.lines;
		copy->eol_type = eol_types[state->task->dialect.newline];
		copy->opts.header_line = COPY_HEADER_FALSE;
	}
	state->counts.rows += gpusort_source_give_back(&state->source, state->buffer + state->begin,
												   bytes);
}

/* ---------- loading by one process ---------- */

typedef enum GpuSortLoadEnd
{
	GPUSORT_LOADED_ALL,
	GPUSORT_LOADED_ENOUGH,		/* the source has delivered as many bytes as asked for */
	GPUSORT_LOADED_TO_REST		/* PostgreSQL's COPY has to go on from here */
} GpuSortLoadEnd;

/*
 * Moves what has not been loaded to the front of the buffer, and reads more behind it.  Returns
 * false if there is no room for more.
 */
static bool
fill_buffer(GpuSortLoadState *state)
{
	Size		left = state->bytes - state->begin;

	if (left == GPUSORT_LOAD_CHUNK_BYTES)
		return false;
	memmove(state->buffer, state->buffer + state->begin, left);
	state->begin = 0;
	state->bytes = left;
	state->bytes += gpusort_load_read(state, state->buffer + left, GPUSORT_LOAD_CHUNK_BYTES - left);
	return true;
}

/* Loads the records in the buffer, and puts their rows into the table. */
static GpuSortLoadStop
load_buffer(GpuSortLoadState *state, GpuSortLoader *loader)
{
	GpuSortLoadInput input = {
		.data = state->buffer + state->begin,
		.bytes = state->bytes - state->begin,
		.at_end = state->source.at_end,
		.may_toast = true
	};
	const GpuSortLoadLines *lines = gpusort_loader_lines(loader);

	gpusort_loader_read(loader, &input);
	state->begin += input.consumed;
	gpusort_load_add_counts(&state->counts, &input.counts);
	gpusort_lines_join(&state->lines, lines->count, lines->bits);
	gpusort_load_order_join(&state->lines.order, lines->order.leaves, lines->order.kept);
	/* an error in writing these rows is about the last of them */
	state->copy->cur_lineno = state->counts.lines;
	gpusort_table_sink_place(gpusort_loader_sink(loader), false, input.decoded_toast);
	/* a page that is kept would need what was toasted for its rows */
	gpusort_table_sink_write(gpusort_loader_sink(loader), !input.decoded_toast,
							 input.decoded_toast);
	gpusort_load_show_progress(state, NULL);
	return input.stop;
}

/*
 * Loads records from the state's buffer and source, in this process, until the source has delivered
 * "limit" bytes, or until the next record has to be left to PostgreSQL.  What has not been loaded
 * by then is in the buffer, from state->begin on, and in the source.
 */
static GpuSortLoadEnd
gpusort_load_alone(GpuSortLoadState *state, uint64 limit)
{
	GpuSortLoader *loader =
		gpusort_loader_begin(state->task, state->statement->table, state->parts);
	GpuSortLoadEnd end = GPUSORT_LOADED_TO_REST;

	gpusort_table_sink_continue(gpusort_loader_sink(loader));
	while (load_buffer(state, loader) == GPUSORT_LOAD_END)
	{
		if (state->source.at_end)
			end = GPUSORT_LOADED_ALL;
		else if (state->source.bytes >= limit)
			end = GPUSORT_LOADED_ENOUGH;
		if (end != GPUSORT_LOADED_TO_REST || state->source.failed || !fill_buffer(state))
			break;
	}
	if (end == GPUSORT_LOADED_TO_REST)
		gpusort_loader_hand_over(loader, state->copy);
	gpusort_table_sink_place(gpusort_loader_sink(loader), false, true);
	gpusort_table_sink_write(gpusort_loader_sink(loader), false, true);
	gpusort_loader_end(loader);
	return end;
}

/* ---------- what we do ---------- */

/* PostgreSQL loads an input that is shorter than this as fast as we do. */
#define LEAST_BYTES		(GPUSORT_LOAD_CHUNK_BYTES / 16)

/*
 * Returns whether there is enough input to be worth loading here.  If less than a chunk has come so
 * far, and the input has not ended, this may be all that comes for a while.
 */
static bool
is_long(const GpuSortLoadState *state)
{
	return gpusort_force || state->bytes == GPUSORT_LOAD_CHUNK_BYTES ||
		(state->source.at_end && state->bytes >= LEAST_BYTES);
}

/*
 * Returns whether PostgreSQL's conditions for FREEZE hold.  If they don't, CopyFrom() raises the
 * error.
 */
static bool
may_freeze(const GpuSortLoadState *state)
{
	InvalidateCatalogSnapshot();
	return !state->task->partitioned && ThereAreNoPriorRegisteredSnapshots() &&
		ThereAreNoReadyPortals() &&
		gpusort_relation_is_of_subtransaction(state->statement->table);
}

/*
 * Returns whether the table has free space for a good part of the rows.  We would not use this
 * space, because our rows go to the end of the table.  How many bytes a program or a client will
 * send is not known: they are taken to be as many as the table has already, so that the table does
 * not grow for ever.
 */
static bool
leaves_space(const GpuSortLoadState *state)
{
	Relation	table = state->statement->table;
	uint64		expected = gpusort_source_expected(&state->source);
	double		bytes = (double) state->bytes + expected;

	if (state->task->partitioned || gpusort_relation_is_new(table) || gpusort_force)
		return false;
	if (expected == 0 && !state->source.at_end)
		bytes = Max(bytes, (double) RelationGetNumberOfBlocks(table) * BLCKSZ);
	return gpusort_table_has_space(table, bytes);
}

/*
 * Returns why the partitions of the table are not ours, or NULL; prepares what will have to be done
 * for them.
 */
static const char *
begin_tree(GpuSortLoadState *state)
{
	GpuSortLoadTree tree;
	const char *why = gpusort_load_why_not_partitions(state->statement->table, &tree);

	if (why != NULL ||
		(why = gpusort_load_leaves_begin(&state->leaves, tree.indexed, tree.maybe_empty)) != NULL)
		return why;
	state->nparts = tree.count;
	state->task->indexed = state->leaves.count > 0;
	if (state->task->indexed)
		state->lines.order.rows = palloc0((state->leaves.count + 1) * sizeof(uint64));
	return NULL;
}

/*
 * Returns why PostgreSQL has to load the input after all, or NULL: then what comes before the first
 * row has been read.
 */
static const char *
begin_rows(GpuSortLoadState *state)
{
	CopyFormatOptions *options = &state->copy->opts;
	GpuSortLoadHeader header = {.records = gpusort_copy_header_records(options)};
	GpuSortLoadInput input =
		{.data = state->buffer,.bytes = state->bytes,.at_end = state->source.at_end};
	const char *why;

	if (state->source.failed)
		return "reading the input fails";
	if (!is_long(state))
		return "the input is short, or comes slowly";
	if (options->freeze && !may_freeze(state))
		return "FREEZE, which is not to be had";
	if (leaves_space(state))
		return "there is free space in the table";
	if (state->task->partitioned && (why = begin_tree(state)) != NULL)
		return why;
	if (!state->task->partitioned && state->task->indexed &&
		!gpusort_load_leaves_alone(&state->leaves, state->statement->table))
		return "others use the table's indexes";
	if (options->header_line == COPY_HEADER_MATCH)
		header.columns = RelationGetDescr(state->statement->table);
	if (!gpusort_load_start(state->task, state->encoding, &header, &input))
		return "the first record is odd";
	state->begin = input.consumed;
	state->has_begun = input.consumed > 0;
	state->counts.lines = state->first_line = input.counts.lines;
	return NULL;
}

/*
 * How long the input from a program or a client will be is not known.  It is taken to be long when
 * it has sent this many bytes.
 */
#define LONG_BYTES	(16 * GPUSORT_LOAD_CHUNK_BYTES)

/* Returns how many workers should take part. */
static int
choose_workers(const GpuSortLoadState *state)
{
	uint64		chunks = gpusort_source_expected(&state->source) / GPUSORT_LOAD_CHUNK_BYTES;

	if (chunks == 0 && state->source.bytes >= LONG_BYTES)
		chunks = PG_UINT32_MAX;
	return gpusort_load_workers(state, chunks);
}

/*
 * Decides what pages stay in shared buffers.  Rows that go into indexes at the end are read again
 * then, and those of a table that is new in this transaction are likely to be, by CREATE INDEX or
 * ANALYZE.  It would be slow to write out their pages, as a COPY of PostgreSQL's does, and to read
 * them back.  They are kept as far as the server's scans would bring a table into shared buffers:
 * if it has more than a quarter of these, its pages go through a ring.
 */
static void
choose_buffers(GpuSortLoadState *state, int participants)
{
	GpuSortLoadTask *task = state->task;
	bool		is_new = gpusort_relation_is_new(state->statement->table);

	task->buffers.kept = task->indexed || is_new ? NBuffers / 4 / participants : 0;
	/* a partition may be older than the table */
	task->buffers.is_new = is_new && !task->partitioned;
}

static GpuSortLoadEnd
load_alone(GpuSortLoadState *state, uint64 limit)
{
	choose_buffers(state, 1);
	return gpusort_load_alone(state, limit);
}

static bool
load_together(GpuSortLoadState *state, int nworkers)
{
	choose_buffers(state, nworkers + 1);
	return gpusort_load_together(state, nworkers);
}

static bool
load_by_all(GpuSortLoadState *state)
{
	GpuSortLoadEnd end = GPUSORT_LOADED_ENOUGH;
	int			nworkers = choose_workers(state);

	if (nworkers == 0)
	{
		end = load_alone(state, LONG_BYTES);
		nworkers = choose_workers(state);
	}
	if (end == GPUSORT_LOADED_ENOUGH && nworkers > 0 && load_together(state, nworkers))
		return state->bytes == state->begin && state->source.at_end;
	if (end == GPUSORT_LOADED_ENOUGH)
		end = load_alone(state, PG_UINT64_MAX);
	return end == GPUSORT_LOADED_ALL;
}

static void
begin_parts(GpuSortLoadState *state)
{
	if (!state->task->partitioned)
		return;
	state->parts = palloc_extended(gpusort_load_parts_bytes(state->nparts), MCXT_ALLOC_HUGE);
	gpusort_load_parts_init(state->parts, state->nparts, &state->leaves);
}

/* Loads as much of the input as can be loaded here, and returns whether that was all of it. */
static bool
load_rows(GpuSortLoadState *state)
{
	Relation	table = state->statement->table;
	const char *why = begin_rows(state);
	bool		all;

	if (why != NULL)
	{
		gpusort_load_report_left(why);
		return false;
	}
	CheckForSerializableConflictIn(table, NULL, InvalidBlockNumber);
	state->task->owner.xid = GetCurrentTransactionId();
	state->task->owner.cid = GetCurrentCommandId(true);
	state->task->owner.frozen = state->copy->opts.freeze;
	begin_parts(state);
	all = load_by_all(state);
	if (state->parts != NULL)
		gpusort_load_parts_end(state->parts, &state->leaves);
	gpusort_load_fill_indexes(state);
	gpusort_lines_clear(&state->lines);
	CheckForSerializableConflictIn(table, NULL, InvalidBlockNumber);
	gpusort_load_show_progress(state, NULL);
	ereport(DEBUG1,
			(errmsg_internal("gpusort loaded %llu rows%s", (unsigned long long) state->counts.rows,
							 all ? "" : ", and leaves what follows to PostgreSQL")));
	return all;
}

/* ---------- the whole COPY ---------- */

static bool
read_and_load(GpuSortLoadState *state)
{
	CopyFromState copy = state->copy;
	ErrorContextCallback context = {error_context_stack, CopyFromErrorCallback, copy};
	bool		all;

	copy->cur_lineno = 1;
	copy->line_buf_valid = false;
	copy->cur_attname = NULL;
	error_context_stack = &context;
	state->bytes += gpusort_load_read(state, state->buffer + state->bytes,
									  GPUSORT_LOAD_CHUNK_BYTES - state->bytes);
	all = load_rows(state);
	error_context_stack = context.previous;
	return all;
}

static void
copy_rows(GpuSortLoadState *state)
{
	state->task = gpusort_load_task(state->statement, state->copy);
	state->lines.context = state->lines.order.context = CurrentMemoryContext;
	state->encoding = gpusort_encoding_begin(state->task);
	state->buffer = palloc(GPUSORT_LOAD_CHUNK_BYTES);
	state->bytes = gpusort_source_begin(&state->source, state->copy, state->buffer);
	/*
	 * EndCopyFrom() forgives a program that dies by SIGPIPE unless its output was read to the end
	 */
	if (read_and_load(state))
		state->copy->raw_reached_eof = true;
	else
		leave_rest(state);
}

uint64
gpusort_copy_from(GpuSortLoadStatement *load)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	const CopyStmt *stmt = load->stmt;
	GpuSortLoadState *state = palloc0(sizeof(GpuSortLoadState));
	uint64		rows;

	state->statement = load;
	state->copy = BeginCopyFrom(load->pstate, load->table, (Node *) load->where, stmt->filename,
								stmt->is_program, NULL, stmt->attlist, stmt->options);
	copy_rows(state);
	rows = state->counts.rows;
	EndCopyFrom(state->copy);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	table_close(load->table, NoLock);
	return rows;
}
