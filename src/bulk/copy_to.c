/*
 * copy_to.c
 *		COPY statements: which are taken over from PostgreSQL, and carrying out a COPY TO.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/copy.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "bulk/bulk.h"
#include "bulk/out_row_private.h"
#include "bulk/out_stream_private.h"
#include "load/load.h"
#include "pg_compat/copy.h"
#include "pg_compat/executor.h"
#include "pg_compat/tables.h"
#include "settings.h"

typedef struct GpuSortCopyStatement
{
	const CopyStmt *stmt;
	ParseState *pstate;
	CopyFormatOptions options;
	Relation	relation;		/* table that is copied; NULL if it is a query */
} GpuSortCopyStatement;

/* ---------- which COPY TO statements are ours, and what they ask for ---------- */

/*
 * We take over only what is plainly allowed.  Anything else, and whatever may end in an error for
 * which PostgreSQL has its own words, is left to PostgreSQL's COPY, which looks at the statement
 * from the start and reports the error.
 *
 * The order of the checks is that of PostgreSQL's COPY.  So an error that its functions raise here
 * is the one that COPY would have raised.
 */

/* Returns whether the user may write to the file, program or client that gets the rows. */
static bool
may_write(const CopyStmt *stmt)
{
	if (stmt->filename == NULL)
		return gpusort_out_client_is_there();
	if (stmt->is_program)
		return has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM);
	return has_privs_of_role(GetUserId(), ROLE_PG_WRITE_SERVER_FILES) &&
		is_absolute_path(stmt->filename);
}

/*
 * Returns whether the query is a SELECT without INTO.  Whatever rules there are, a SELECT is
 * rewritten to one query.  The INTO of a set operation is found in its first SELECT.
 */
static bool
is_select(const Node *query)
{
	const SelectStmt *select = (const SelectStmt *) query;

	if (!IsA(query, SelectStmt))
		return false;
	while (select->op != SETOP_NONE)
		select = select->larg;
	return select->intoClause == NULL;
}

/* Returns whether the relation is a plain table, and the user may read all its rows and columns. */
static bool
may_read(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_RELATION &&
		ExecutorCheckPerms_hook == NULL &&
		pg_class_aclcheck(RelationGetRelid(relation), GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		check_enable_rls(RelationGetRelid(relation), InvalidOid, true) != RLS_ENABLED;
}

/* Returns whether all columns of FORCE_QUOTE are copied. */
static bool
quotes_what_is_copied(const GpuSortCopyStatement *copy)
{
	TupleDesc	desc = RelationGetDescr(copy->relation);
	List	   *copied = CopyGetAttnums(desc, copy->relation, copy->stmt->attlist);
	List	   *quoted;

	if (copy->options.force_quote == NIL)
		return true;
	quoted = CopyGetAttnums(desc, copy->relation, copy->options.force_quote);
	return list_difference_int(quoted, copied) == NIL;
}

static bool
options_are_ours(const CopyFormatOptions *options)
{
	return gpusort_copy_format_is_known(options) &&
		strlen(options->null_print) < GPUSORT_OUT_NULL_BYTES;
}

static bool
table_is_ours(GpuSortCopyStatement *copy)
{
	if (!may_read(copy->relation))
		return false;
	CopyGetAttnums(RelationGetDescr(copy->relation), copy->relation, copy->stmt->attlist);
	ProcessCopyOptions(copy->pstate, &copy->options, false, copy->stmt->options);
	return options_are_ours(&copy->options) && quotes_what_is_copied(copy);
}

/*
 * Returns whether the statement is executed here, and fills *copy if so.  A table is then open and
 * locked.
 */
static bool
gpusort_copy_is_ours(const CopyStmt *stmt, ParseState *pstate, GpuSortCopyStatement *copy)
{
	if (stmt->is_from || stmt->whereClause != NULL || !may_write(stmt) ||
		(stmt->relation == NULL && !is_select(stmt->query)))
		return false;
	memset(copy, 0, sizeof(*copy));
	copy->stmt = stmt;
	copy->pstate = pstate;
	if (stmt->relation == NULL)
	{
		ProcessCopyOptions(pstate, &copy->options, false, stmt->options);
		return options_are_ours(&copy->options);
	}
	copy->relation = table_openrv(stmt->relation, AccessShareLock);
	if (table_is_ours(copy))
		return true;
	table_close(copy->relation, NoLock);
	return false;
}

static void
fill_format(const GpuSortCopyStatement *copy, GpuSortOutFormat *format)
{
	const CopyFormatOptions *options = &copy->options;

	memset(format, 0, sizeof(*format));
	format->messages = copy->stmt->filename == NULL;
	format->encoding = options->file_encoding >= 0 ? options->file_encoding
		: pg_get_client_encoding();
	if (gpusort_copy_format_is_binary(options))
	{
		format->style = GPUSORT_OUT_BINARY;
		return;
	}
	format->style = GPUSORT_OUT_TEXT;
	format->delimiter = options->delim[0];
	if (gpusort_copy_format_is_csv(options))
	{
		format->style = GPUSORT_OUT_CSV;
		format->quote = options->quote[0];
		format->escape = options->escape[0];
	}
	format->null_length = strlen(options->null_print);
	strcpy(format->null_print, options->null_print);
}

/*
 * Returns the columns that the statement copies of rows with this descriptor, and fills in the
 * format that it asks for.
 */
static GpuSortOutColumn *
gpusort_copy_columns(const GpuSortCopyStatement *copy, TupleDesc desc, GpuSortOutFormat *format)
{
	const CopyFormatOptions *options = &copy->options;
	List	   *copied = CopyGetAttnums(desc, copy->relation, copy->stmt->attlist);
	List	   *quoted = options->force_quote == NIL ? NIL
		: CopyGetAttnums(desc, copy->relation, options->force_quote);
	GpuSortOutColumn *columns = palloc0(Max(list_length(copied), 1) * sizeof(GpuSortOutColumn));
	ListCell   *lc;

	fill_format(copy, format);
	foreach(lc, copied)
	{
		int			attnum = lfirst_int(lc);

		columns[format->ncolumns++] = (GpuSortOutColumn) {
			.type = TupleDescAttr(desc, attnum - 1)->atttypid,
			.attribute = attnum - 1,
			.binary = format->style == GPUSORT_OUT_BINARY,
			.force_quote = options->force_quote_all || list_member_int(quoted, attnum)
		};
	}
	return columns;
}

/* ---------- taking the rows of a query from the executor ---------- */

/*
 * When the executor returns the first row, the sort below may have all others as well.  Parallel
 * workers then write the rows, and the executor is asked for no more.
 */

typedef struct OutReceiver
{
	DestReceiver pub;			/* must be first field */
	GpuSortOutStream *stream;
	const GpuSortOutColumn *columns;
	QueryDesc  *query;
	bool		received;		/* a row has been received */
} OutReceiver;

static void
start_up(DestReceiver *self, int operation, TupleDesc desc)
{
}

/* Receive a row.  Returns false, which ends the query, if workers have written all rows. */
static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	OutReceiver *receiver = (OutReceiver *) self;

	if (unlikely(!receiver->received))
	{
		receiver->received = true;
		if (gpusort_out_write_query(receiver->stream, receiver->columns, receiver->query))
			return false;
	}
	gpusort_out_stream_row(receiver->stream, slot);
	return true;
}

static void
shut_down(DestReceiver *self)
{
}

static void
destroy(DestReceiver *self)
{
	pfree(self);
}

/*
 * Returns a receiver that writes rows to a stream.  The stream must have begun when the first row
 * comes.
 */
static DestReceiver *
gpusort_out_make_receiver(GpuSortOutStream *stream)
{
	OutReceiver *receiver = palloc0(sizeof(OutReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = start_up;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = DestCopyOut;
	receiver->stream = stream;
	return &receiver->pub;
}

/*
 * Tell a query's receiver about the query, which has been started and is going to be run to its
 * end.
 */
static void
gpusort_out_begin_receiver(QueryDesc *query, const GpuSortOutColumn *columns)
{
	OutReceiver *receiver = (OutReceiver *) query->dest;

	receiver->query = query;
	gpusort_out_expect_query(query);
	receiver->columns = columns;
}

/* ---------- carrying out a COPY TO ---------- */

/*
 * As in PostgreSQL's COPY, the query is planned and started before the file is opened, so that an
 * error there leaves the file as it was.
 */

typedef struct CopyTo
{
	GpuSortCopyStatement *statement;
	QueryDesc  *query;			/* NULL if a table is copied */
	TupleDesc	desc;			/* descriptor of the rows that are read */
	GpuSortOutFormat format;
	GpuSortOutColumn *columns;
	GpuSortOutTarget target;
	GpuSortOutStream stream;
} CopyTo;

/* ---------- ... the query ---------- */

static PlannedStmt *
plan_query(const GpuSortCopyStatement *copy, int location, int length)
{
	RawStmt    *raw = makeNode(RawStmt);
	const char *text = copy->pstate->p_sourcetext;
	List	   *queries;

	/* the statement may be a cached one, which must not be changed */
	raw->stmt = copyObject(copy->stmt->query);
	raw->stmt_location = location;
	raw->stmt_len = length;
	queries = pg_analyze_and_rewrite_fixedparams(raw, text, NULL, 0, NULL);
	if (list_length(queries) != 1)
		elog(ERROR, "COPY of a SELECT was rewritten to %d queries", list_length(queries));
	return gpusort_plan_query(linitial_node(Query, queries), text);
}

static void
start_query(CopyTo *to, int location, int length)
{
	PlannedStmt *plan = plan_query(to->statement, location, length);

	/* let the query see what earlier commands have done */
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	to->query = CreateQueryDesc(plan, to->statement->pstate->p_sourcetext, GetActiveSnapshot(),
								InvalidSnapshot, gpusort_out_make_receiver(&to->stream),
								NULL, NULL, 0);
	ExecutorStart(to->query, 0);
	to->desc = to->query->tupDesc;
}

static void
end_query(CopyTo *to)
{
	DestReceiver *receiver = to->query->dest;

	ExecutorFinish(to->query);
	ExecutorEnd(to->query);
	FreeQueryDesc(to->query);
	PopActiveSnapshot();
	receiver->rDestroy(receiver);
}

/* ---------- ... the table ---------- */

static void
copy_table(CopyTo *to)
{
	Relation	table = to->statement->relation;
	TableScanDesc scan = gpusort_table_beginscan(table, GetActiveSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_out_stream_row(&to->stream, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/* ---------- ... where the rows go ---------- */

static void
open_target(CopyTo *to)
{
	const CopyStmt *stmt = to->statement->stmt;
	const int	parameters[] = {PROGRESS_COPY_COMMAND, PROGRESS_COPY_TYPE};
	int64		values[] = {PROGRESS_COPY_COMMAND_TO, PROGRESS_COPY_TYPE_PIPE};
	Relation	table = to->statement->relation;

	to->target.copy = true;
	if (stmt->filename != NULL && stmt->is_program)
	{
		values[1] = PROGRESS_COPY_TYPE_PROGRAM;
		gpusort_out_open_program(&to->target, stmt->filename);
	}
	else if (stmt->filename != NULL)
	{
		values[1] = PROGRESS_COPY_TYPE_FILE;
		gpusort_out_open_file(&to->target, stmt->filename);
	}
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY,
								  table != NULL ? RelationGetRelid(table) : InvalidOid);
	pgstat_progress_update_multi_param(2, parameters, values);
}

/* Send the CopyOutResponse message. */
static void
begin_client_copy(const GpuSortOutFormat *format)
{
	int			binary = format->style == GPUSORT_OUT_BINARY ? 1 : 0;
	StringInfoData message;

	pq_beginmessage(&message, 'H');
	pq_sendbyte(&message, binary);
	pq_sendint16(&message, format->ncolumns);
	for (int i = 0; i < format->ncolumns; i++)
		pq_sendint16(&message, binary);
	pq_endmessage(&message);
}

/* ---------- ... all of it ---------- */

/*
 * Header of the binary format: the signature, no flags, no extension.  It is sent in front of the
 * first row, or of the trailer if there are no rows.
 */
static const char binary_header[] = "PGCOPY\n\377\r\n\0" "\0\0\0\0" "\0\0\0\0";

static void
begin_rows(CopyTo *to)
{
	if (to->format.messages)
		begin_client_copy(&to->format);
	gpusort_out_begin_stream(&to->stream, &to->format, to->columns, &to->target);
	if (to->format.style == GPUSORT_OUT_BINARY)
	{
		to->target.prefix = binary_header;
		to->target.prefix_length = sizeof(binary_header) - 1;
	}
	else if (to->statement->options.header_line != COPY_HEADER_FALSE)
		gpusort_out_stream_header(&to->stream, to->desc);
}

static void
end_rows(CopyTo *to)
{
	if (to->format.style == GPUSORT_OUT_BINARY)
		gpusort_out_stream_bytes(&to->stream, "\377\377", 2);
	gpusort_out_flush_stream(&to->stream);
	if (to->format.messages)
		pq_putemptymessage('c');
}

static void
copy_rows(CopyTo *to)
{
	begin_rows(to);
	if (to->query != NULL)
	{
		gpusort_out_begin_receiver(to->query, to->columns);
		gpusort_run_to_the_end(to->query);
	}
	else if (!gpusort_out_write_table(&to->stream, to->columns, to->statement->relation))
		copy_table(to);
	end_rows(to);
}

/*
 * Execute a COPY TO and close its table.  The statement is the part of the source text at
 * `location` with `length` bytes.  Returns how many rows were copied.
 */
static uint64
gpusort_copy_to(GpuSortCopyStatement *copy, int location, int length)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CopyTo	   *to = palloc0(sizeof(CopyTo));
	uint64		rows;

	to->statement = copy;
	if (copy->relation != NULL)
		to->desc = RelationGetDescr(copy->relation);
	else
		start_query(to, location, length);
	to->columns = gpusort_copy_columns(copy, to->desc, &to->format);
	open_target(to);
	copy_rows(to);
	if (to->query != NULL)
		end_query(to);
	gpusort_out_close(&to->target);
	pgstat_progress_end_command();
	rows = to->target.rows;
	ereport(DEBUG1,
			(errmsg_internal("gpusort copied %llu rows", (unsigned long long) rows)));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (copy->relation != NULL)
		table_close(copy->relation, NoLock);
	return rows;
}

/* ---------- how COPY gets here ---------- */

/*
 * A statement that we take over reaches neither the server's function for utility commands nor the
 * hooks that other extensions had installed before ours.  Such hooks may audit, count or forbid
 * statements, so COPY is left to PostgreSQL if there are any.  Hooks that were installed later are
 * called before ours, and see all statements.
 */

static bool
copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
	 QueryCompletion *completion)
{
	const CopyStmt *stmt = (const CopyStmt *) pstmt->utilityStmt;
	ParseState *pstate = make_parsestate(NULL);
	GpuSortCopyStatement out;
	GpuSortLoadStatement in;
	bool		is_ours = true;
	uint64		rows = 0;

	pstate->p_sourcetext = text;
	pstate->p_queryEnv = environment;
	if (gpusort_copy_is_ours(stmt, pstate, &out))
		rows = gpusort_copy_to(&out, pstmt->stmt_location, pstmt->stmt_len);
	else if (gpusort_load_is_ours(stmt, pstate, &in))
		rows = gpusort_copy_from(&in);
	else
		is_ours = false;
	free_parsestate(pstate);
	if (is_ours && completion != NULL)
		SetQueryCompletion(completion, CMDTAG_COPY, rows);
	return is_ours;
}

static bool
is_wanted(bool is_watched)
{
	if (!gpusort_enabled || !gpusort_enable_copy || IsInParallelMode())
		return false;
	if (!is_watched)
		return true;
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves COPY to PostgreSQL: an extension that was loaded before watches commands")));
	return false;
}

bool
gpusort_copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
			 QueryCompletion *completion, bool is_watched)
{
	return is_wanted(is_watched) && copy(pstmt, text, environment, completion);
}
