/*
 * load_build.c
 *		Filling the indexes of tables that were empty; see load_indexes_private.h.
 *
 * The indexes are rebuilt into new files, as REINDEX does, so that an abort leaves the empty ones.
 * This is done in a subtransaction.  If it fails because of a row, the rows are inserted into the
 * empty indexes one by one, as PostgreSQL's COPY does: that fails at the row where COPY would fail,
 * with COPY's error.
 *
 * A new file is more work than inserting a few rows, and each of many partitions may have got only
 * a few.  Such rows are inserted in any case.  So are the rows of partitions that are in use; if
 * there are many of them, they are inserted in the order of their keys (load_entries.c).
 */
#include "postgres.h"

#include "access/table.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "load/load_indexes_private.h"
#include "pg_compat.h"
#include "pg_compat/tables.h"
#include "settings.h"
#include "table/table.h"

/* ---------- rows one by one, in the order of their lines ---------- */

/*
 * In each table, our rows are in the order of their lines, but rows of other sessions may be
 * between them.  A scan would keep a page of each partition pinned, of which there may be many; so
 * a row is copied from its page when it is needed.
 */

/* A table, and how far its rows have got into its indexes. */
typedef struct ReinsertTable
{
	Relation	table;
	ResultRelInfo *result;
	Relation   *done;			/* indexes that have all entries, by number; or NULL: none has */
	const GpuSortTableOwner *owner;	/* who has put the rows there */
	TupleTableSlot *slot;
	ItemPointerData next;
	BlockNumber nblocks;
} ReinsertTable;

typedef struct Reinsert
{
	const GpuSortLoadState *state;
	const GpuSortRefusedRow *refused;
	EState	   *estate;
	ReinsertTable **tables;		/* by leaf number; NULL: it has had no row yet */
	int			ntables;
} Reinsert;

/* ---------- ... tables ---------- */

static ReinsertTable *
begin_table(Reinsert *reinsert, Relation table, BlockNumber first_block)
{
	MemoryContext old = MemoryContextSwitchTo(reinsert->estate->es_query_cxt);
	ReinsertTable *rows = palloc0(sizeof(ReinsertTable));

	rows->table = table;
	rows->result = makeNode(ResultRelInfo);
	InitResultRelInfo(rows->result, table, 1, NULL, 0);
	ExecOpenIndices(rows->result, false);
	rows->slot =
		ExecInitExtraTupleSlot(reinsert->estate, RelationGetDescr(table), &TTSOpsHeapTuple);
	rows->owner = &reinsert->state->task->owner;
	ItemPointerSet(&rows->next, first_block, FirstOffsetNumber);
	rows->nblocks = RelationGetNumberOfBlocks(table);
	MemoryContextSwitchTo(old);
	return rows;
}

/* Hides the indexes that have all entries from the server, which passes over NULLs. */
static void
hide_done_indexes(const Reinsert *reinsert, ReinsertTable *rows)
{
	ResultRelInfo *result = rows->result;

	rows->done = MemoryContextAllocZero(reinsert->estate->es_query_cxt,
										result->ri_NumIndices * sizeof(Relation));
	for (int i = 0; i < result->ri_NumIndices; i++)
	{
		if (!gpusort_load_entries_are_sorted(result->ri_IndexRelationDescs[i],
											 result->ri_IndexRelationInfo[i]))
			continue;
		rows->done[i] = result->ri_IndexRelationDescs[i];
		result->ri_IndexRelationDescs[i] = NULL;
	}
}

static ReinsertTable *
begin_leaf(Reinsert *reinsert, const GpuSortLoadLeaf *leaf)
{
	ReinsertTable *rows = begin_table(reinsert, table_open(leaf->table, NoLock), leaf->first_block);

	if (leaf->is_sorted)
		hide_done_indexes(reinsert, rows);
	return rows;
}

static void
end_table(const Reinsert *reinsert, ReinsertTable *rows)
{
	for (int i = 0; rows->done != NULL && i < rows->result->ri_NumIndices; i++)
	{
		if (rows->done[i] != NULL)
			rows->result->ri_IndexRelationDescs[i] = rows->done[i];
	}
	ExecCloseIndices(rows->result);
	if (rows->table != reinsert->state->statement->table)
		table_close(rows->table, NoLock);
}

/*
 * Returns the table that the next row is in, or NULL if that row is in all indexes of its table, or
 * the table has none.
 */
static ReinsertTable *
find_table(Reinsert *reinsert, GpuSortOrderReader *order)
{
	const GpuSortLoadState *state = reinsert->state;
	GpuSortLeafNumber number = GPUSORT_NO_LEAF;

	if (state->task->partitioned)
	{
		number = gpusort_load_order_next(order);
		if (number == GPUSORT_NO_LEAF || state->leaves.leaves[number - 1].is_built)
			return NULL;
	}
	if (reinsert->tables[number] == NULL)
		reinsert->tables[number] = number == GPUSORT_NO_LEAF
			? begin_table(reinsert, state->statement->table, 0)
			: begin_leaf(reinsert, &state->leaves.leaves[number - 1]);
	return reinsert->tables[number];
}

/* ---------- ... rows ---------- */

/*
 * Returns a copy of the first row of ours in a block from *offset on, and moves *offset behind it;
 * returns NULL if there is none.
 */
static HeapTuple
copy_row(const ReinsertTable *rows, BlockNumber block, OffsetNumber *offset)
{
	Buffer		buffer = ReadBuffer(rows->table, block);
	HeapTuple	copy = NULL;
	Page		page;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	for (; copy == NULL && !PageIsNew(page) && *offset <= PageGetMaxOffsetNumber(page); (*offset)++)
	{
		ItemId		item = PageGetItemId(page, *offset);
		HeapTupleData tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		if (!gpusort_table_row_is_own(rows->owner, tuple.t_data))
			continue;
		tuple.t_len = ItemIdGetLength(item);
		tuple.t_tableOid = RelationGetRelid(rows->table);
		ItemPointerSet(&tuple.t_self, block, *offset);
		copy = heap_copytuple(&tuple);
	}
	UnlockReleaseBuffer(buffer);
	return copy;
}

static HeapTuple
next_row(ReinsertTable *rows)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(&rows->next);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(&rows->next);
	HeapTuple	row = NULL;

	while (block < rows->nblocks && (row = copy_row(rows, block, &offset)) == NULL)
	{
		block++;
		offset = FirstOffsetNumber;
	}
	if (row == NULL)
		elog(ERROR, "a row that was loaded is not in table \"%s\"", RelationGetRelationName(rows->table));
	ItemPointerSet(&rows->next, block, offset);
	return row;
}

static void
insert_row(ReinsertTable *rows, EState *estate)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
	List	   *recheck;

	ExecStoreHeapTuple(next_row(rows), rows->slot, false);
	recheck = gpusort_insert_index_tuples(rows->result, rows->slot, estate);
	Assert(recheck == NIL);
	list_free(recheck);
	ExecClearTuple(rows->slot);
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(estate);
}

/*
 * Inserts the row that is known to be refused into the indexes in front of the one that has refused
 * it: one of these may refuse it, too.
 */
static void
insert_refused(const Reinsert *reinsert, ReinsertTable *rows)
{
	int			nindexes = rows->result->ri_NumIndices;

	rows->result->ri_NumIndices = reinsert->refused->index;
	insert_row(rows, reinsert->estate);
	rows->result->ri_NumIndices = nindexes;
}

static void
insert_rows(Reinsert *reinsert)
{
	const GpuSortLoadState *state = reinsert->state;
	CopyFromState copy = state->copy;
	GpuSortOrderReader order;
	uint64		line = 0;

	gpusort_load_order_read(&order, &state->lines.order);
	copy->cur_lineno = state->first_line;
	for (uint64 i = 0; i < state->counts.rows; i++)
	{
		ReinsertTable *rows;

		CHECK_FOR_INTERRUPTS();
		copy->cur_lineno += gpusort_lines_to_row(&state->lines, &line);
		rows = find_table(reinsert, &order);
		if (reinsert->refused->error != NULL && copy->cur_lineno >= reinsert->refused->line)
		{
			if (rows != NULL)
				insert_refused(reinsert, rows);
			break;
		}
		if (rows != NULL)
			insert_row(rows, reinsert->estate);
	}
	gpusort_load_order_end(&order);
}

/*
 * Inserts into the indexes all rows that were loaded into a table that was empty, or into
 * partitions whose indexes were not built; raises errors as COPY does.  If *refused has a row that
 * was refused, stops at this row.
 */
static void
gpusort_load_reinsert(const GpuSortLoadState *state, const GpuSortRefusedRow *refused)
{
	Reinsert	reinsert = {.state = state,.refused = refused,.estate = CreateExecutorState()};
	EState	   *estate = reinsert.estate;

	estate->es_snapshot = RegisterSnapshot(GetLatestSnapshot());
	reinsert.ntables = state->leaves.count + 1;
	reinsert.tables =
		MemoryContextAllocZero(estate->es_query_cxt, reinsert.ntables * sizeof(ReinsertTable *));
	insert_rows(&reinsert);
	for (int i = 0; i < reinsert.ntables; i++)
	{
		if (reinsert.tables[i] != NULL)
			end_table(&reinsert, reinsert.tables[i]);
	}
	ExecResetTupleTable(estate->es_tupleTable, false);
	UnregisterSnapshot(estate->es_snapshot);
	FreeExecutorState(estate);
}

/* ---------- building indexes, and what else fills them ---------- */

/* The indexes of a partition are built if it has got at least this many rows. */
#define MIN_ROWS		((uint64) (gpusort_force ? 100 : 2000))

/* The same for a table that is not partitioned. */
#define MIN_ROWS_ALONE	((uint64) (gpusort_force ? 0 : 500))

/*
 * The entries of a partition in use are sorted if it has got at least this many rows.  It is worth
 * it even for so few because the pages of one index stay at hand while their entries are inserted.
 */
#define MIN_SORTED		((uint64) (gpusort_force ? 50 : 5))

static void
build_indexes(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_reindex(lfirst_oid(lc), table->rd_rel->relpersistence);
	}
}

static inline bool
is_worth_it(const GpuSortLoadState *state, int leaf)
{
	return !state->leaves.leaves[leaf].is_used && state->lines.order.rows[leaf + 1] >= MIN_ROWS;
}

static void
build_leaves(const GpuSortLoadState *state)
{
	for (int i = 0; i < state->leaves.count; i++)
	{
		Relation	table;

		if (!is_worth_it(state, i))
			continue;
		table = table_open(state->leaves.leaves[i].table, NoLock);
		build_indexes(table);
		table_close(table, NoLock);
	}
}

static void
build_all(void *arg)
{
	const GpuSortLoadState *state = arg;

	if (state->task->partitioned)
		build_leaves(state);
	else
		build_indexes(state->statement->table);
}

/*
 * Returns whether the current error may be one that COPY raises at some row.  If so, inserting the
 * rows one by one finds that row; if there is none, all rows get into the indexes.
 */
static bool
error_may_be_about_row(void)
{
	switch (ERRCODE_TO_CATEGORY(geterrcode()))
	{
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
			return true;
		default:
			return false;
	}
}

/* Builds the indexes; returns false if a row was in the way. */
static bool
try_build(GpuSortLoadState *state)
{
	ErrorData  *error =
		gpusort_load_try(build_all, state, error_may_be_about_row, CurrentMemoryContext);

	if (error != NULL)
		FreeErrorData(error);
	return error == NULL;
}

/*
 * Inserts entries for the rows of partitions in use.  The first row that is refused is kept in
 * *refused, because a row with an earlier line may be refused elsewhere.
 */
static void
put_entries(GpuSortLoadState *state, GpuSortRefusedRow *refused)
{
	for (int i = 0; i < state->leaves.count; i++)
	{
		GpuSortLoadLeaf *leaf = &state->leaves.leaves[i];

		if (!leaf->is_used || state->lines.order.rows[i + 1] < MIN_SORTED)
			continue;
		CHECK_FOR_INTERRUPTS();
		leaf->is_sorted = true;
		leaf->is_built = !gpusort_load_put_leaf_entries(state, i + 1, refused);
	}
}

/* Notes which partitions have all their rows in their indexes now. */
static void
note_built(GpuSortLoadState *state)
{
	for (int i = 0; i < state->leaves.count; i++)
		state->leaves.leaves[i].is_built |= is_worth_it(state, i);
}

/* Returns whether some partition has got rows that are not in its indexes yet. */
static bool
some_are_left(const GpuSortLoadState *state)
{
	for (int i = 0; i < state->leaves.count; i++)
	{
		if (!state->leaves.leaves[i].is_built && state->lines.order.rows[i + 1] > 0)
			return true;
	}
	return false;
}

static void
fill_leaves(GpuSortLoadState *state)
{
	GpuSortRefusedRow refused = {0};

	put_entries(state, &refused);
	if (refused.error == NULL && try_build(state))
		note_built(state);
	if (some_are_left(state))
		gpusort_load_reinsert(state, &refused);
	if (refused.error != NULL)
		ReThrowError(refused.error);
}

void
gpusort_load_build_indexes(GpuSortLoadState *state)
{
	GpuSortRefusedRow none = {0};

	if (!state->task->indexed || state->counts.rows == 0)
		return;
	CommandCounterIncrement();
	if (state->task->partitioned)
		fill_leaves(state);
	else if (state->counts.rows < MIN_ROWS_ALONE || !try_build(state))
		gpusort_load_reinsert(state, &none);
}
