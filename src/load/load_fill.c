/*
 * load_fill.c
 *		Filling the indexes of the tables that were loaded; see load_indexes_private.h.
 *
 * The fast ways: tables in use are given entries in the order of keys (load_entries.c).  The
 * indexes of tables that were empty are rebuilt into new files, as REINDEX does, so that an abort
 * leaves the empty ones; this is done in a subtransaction, which is rolled back if a row is
 * refused.  A new file is more work than inserting a few rows, and each of many partitions may have
 * got only a few: these have their entries inserted in the order of the lines.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "load/load_indexes_private.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* ---------- fast ways ---------- */

/* The indexes of a partition that was empty are built if it has got at least this many rows. */
#define MIN_BUILT		((uint64) (gpusort_force ? 100 : 2000))

/* The same for a table that is not partitioned. */
#define MIN_BUILT_ALONE	((uint64) (gpusort_force ? 0 : 500))

/*
 * The entries of a partition in use are sorted if it has got at least this many rows.  It is worth
 * it even for so few because the pages of one index stay at hand while their entries are inserted.
 */
#define MIN_SORTED		((uint64) (gpusort_force ? 50 : 5))

/* Returns whether there are enough rows in a leaf for filling its indexes in a fast way. */
static bool
is_worth_it(const GpuSortLoadState *state, GpuSortLeafNumber number)
{
	bool		is_used = state->leaves.leaves[number - 1].is_used;
	uint64		least;

	if (state->task->partitioned)
		least = is_used ? MIN_SORTED : MIN_BUILT;
	else
		least = is_used ? 1 : MIN_BUILT_ALONE;
	return gpusort_load_leaf_rows(state, number) >= least;
}

/* ---------- fast ways: entries in the order of their keys ---------- */

/*
 * Fills the indexes of a leaf in use.  Stops at an entry that is refused, which is in *refused
 * then.
 */
static void
insert_leaf(GpuSortLoadState *state, GpuSortLeafNumber number, GpuSortRefusedEntry *refused)
{
	GpuSortLoadLeaf *filled = &state->leaves.leaves[number - 1];
	GpuSortOpenLeaf *leaf = gpusort_load_leaf_open(state, number);
	int			count = leaf->result->ri_NumIndices;

	for (int i = 0; i < count && refused->entry == NULL; i++)
	{
		if (gpusort_entries_are_sorted(leaf, i) && gpusort_entries_insert(leaf, i, refused))
			filled->filled = bms_add_member(filled->filled, i);
	}
	filled->is_filled = bms_num_members(filled->filled) == count;
	if (count > 0)
		ereport(DEBUG1,
				(errmsg_internal("gpusort inserted into %d of %d indexes of \"%s\" in the order of their keys",
								 bms_num_members(filled->filled), count,
								 RelationGetRelationName(leaf->table))));
	gpusort_load_leaf_close(leaf);
	pfree(leaf);
}

static void
insert_leaves(GpuSortLoadState *state, GpuSortRefusedEntry *refused)
{
	for (int i = 1; i <= state->leaves.count && refused->entry == NULL; i++)
	{
		if (state->leaves.leaves[i - 1].is_used && is_worth_it(state, i))
			insert_leaf(state, i, refused);
	}
}

/* ---------- fast ways: building indexes ---------- */

static void
build_leaf(Oid oid)
{
	Relation	table = table_open(oid, NoLock);
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(table))
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_reindex(lfirst_oid(lc), table->rd_rel->relpersistence);
	}
	table_close(table, NoLock);
}

static inline bool
is_built(const GpuSortLoadState *state, GpuSortLeafNumber number)
{
	return !state->leaves.leaves[number - 1].is_used && is_worth_it(state, number);
}

static void
build_leaves(void *arg)
{
	const GpuSortLoadState *state = arg;

	for (int i = 1; i <= state->leaves.count; i++)
	{
		if (is_built(state, i))
			build_leaf(state->leaves.leaves[i - 1].table);
	}
}

/* Builds the indexes of all leaves that were empty and have got many rows, or of none. */
static void
try_to_build(GpuSortLoadState *state)
{
	bool		some = false;

	for (int i = 1; i <= state->leaves.count; i++)
		some |= is_built(state, i);
	if (!some)
		return;
	CommandCounterIncrement();
	if (!gpusort_load_try(build_leaves, state))
		return;
	for (int i = 1; i <= state->leaves.count; i++)
		state->leaves.leaves[i - 1].is_filled |= is_built(state, i);
}

/* ---------- one pass, in the order of the lines ---------- */

/*
 * In each leaf, our rows are in the order of their lines, but rows of other sessions may be between
 * them.
 */

typedef struct LinePass
{
	GpuSortLoadState *state;
	const GpuSortRefusedEntry *refused;
	EState	   *estate;
	GpuSortOpenLeaf **leaves;	/* by number; NULL: it has had no row yet */
} LinePass;

static GpuSortOpenLeaf *
open_leaf(const LinePass *pass, GpuSortLeafNumber number)
{
	MemoryContext old = MemoryContextSwitchTo(pass->estate->es_query_cxt);
	GpuSortOpenLeaf *leaf = gpusort_load_leaf_open(pass->state, number);

	for (int i = 0; i < leaf->result->ri_NumIndices; i++)
	{
		IndexInfo  *info = leaf->result->ri_IndexRelationInfo[i];

		if (info->ii_Predicate != NIL)
			info->ii_PredicateState = ExecPrepareQual(info->ii_Predicate, pass->estate);
	}
	MemoryContextSwitchTo(old);
	return leaf;
}

/*
 * Gives an index the entry of the current row of a leaf, in which the server checks it.  The index
 * that has refused an entry has all entries in front of that one.
 */
static void
insert_entry(const LinePass *pass, const GpuSortOpenLeaf *leaf, int number)
{
	const GpuSortRefusedEntry *refused = pass->refused;
	Relation	index = leaf->result->ri_IndexRelationDescs[number];
	IndexInfo  *info = leaf->result->ri_IndexRelationInfo[number];
	ItemPointer tid = &leaf->slot->tts_tid;
	IndexUniqueCheck check = index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (info->ii_Predicate != NIL &&
		!ExecQual(info->ii_PredicateState, GetPerTupleExprContext(pass->estate)))
		return;
	FormIndexDatum(info, leaf->slot, pass->estate, values, isnull);
	if (refused->entry != NULL && refused->leaf == leaf->number && refused->index == number)
	{
		int			order = gpusort_entry_compare(index, values, isnull, tid, refused->entry);

		if (order < 0)
			return;
		if (order == 0)
			check = UNIQUE_CHECK_EXISTING;
	}
	index_insert(index, values, isnull, tid, leaf->table, check, false, info);
}

/* Gives the next row of a leaf the entries that it has not got yet. */
static void
insert_next_row(const LinePass *pass, GpuSortOpenLeaf *leaf)
{
	const GpuSortLoadLeaf *filled = &pass->state->leaves.leaves[leaf->number - 1];
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(pass->estate));

	if (!gpusort_load_leaf_next_row(leaf))
		elog(ERROR, "a row that was loaded is not in table \"%s\"", RelationGetRelationName(leaf->table));
	GetPerTupleExprContext(pass->estate)->ecxt_scantuple = leaf->slot;
	for (int i = 0; i < leaf->result->ri_NumIndices; i++)
	{
		if (leaf->result->ri_IndexRelationInfo[i]->ii_ReadyForInserts &&
			!bms_is_member(i, filled->filled))
			insert_entry(pass, leaf, i);
	}
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(pass->estate);
}

static void
insert_rows(const LinePass *pass)
{
	GpuSortLoadState *state = pass->state;
	GpuSortLineReader lines;

	gpusort_lines_read(&lines, &state->lines);
	for (uint64 i = 0; i < state->counts.rows; i++)
	{
		GpuSortLeafNumber number = gpusort_lines_next(&lines);

		CHECK_FOR_INTERRUPTS();
		state->copy->cur_lineno = state->first_line + lines.line;
		if (number == GPUSORT_NO_LEAF || state->leaves.leaves[number - 1].is_filled)
			continue;
		if (pass->leaves[number] == NULL)
			pass->leaves[number] = open_leaf(pass, number);
		insert_next_row(pass, pass->leaves[number]);
	}
	gpusort_lines_read_end(&lines);
}

/*
 * Inserts the entries that rows have not got in the order of the lines.  If an entry was refused,
 * the server raises its error here, or that of a row in front of it.
 */
static void
insert_in_order(GpuSortLoadState *state, const GpuSortRefusedEntry *refused)
{
	LinePass	pass = {.state = state,.refused = refused,.estate = CreateExecutorState()};
	int			count = state->leaves.count;

	pass.leaves = MemoryContextAllocZero(pass.estate->es_query_cxt,
										 (count + 1) * sizeof(GpuSortOpenLeaf *));
	insert_rows(&pass);
	for (int i = 1; i <= count; i++)
	{
		if (pass.leaves[i] != NULL)
			gpusort_load_leaf_close(pass.leaves[i]);
	}
	FreeExecutorState(pass.estate);
}

/* ---------- all indexes ---------- */

/* Returns whether some leaf has got rows that are not in all of its indexes yet. */
static bool
some_are_left(const GpuSortLoadState *state)
{
	for (int i = 1; i <= state->leaves.count; i++)
	{
		if (!state->leaves.leaves[i - 1].is_filled && gpusort_load_leaf_rows(state, i) > 0)
			return true;
	}
	return false;
}

void
gpusort_load_fill_indexes(GpuSortLoadState *state)
{
	GpuSortRefusedEntry refused = {0};

	if (state->leaves.count == 0 || state->counts.rows == 0)
		return;
	insert_leaves(state, &refused);
	if (refused.entry == NULL)
		try_to_build(state);
	if (some_are_left(state))
		insert_in_order(state, &refused);
}
