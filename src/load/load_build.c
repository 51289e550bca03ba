/*
 * load_build.c
 *		Filling the indexes of tables that were empty; see load_build.h.
 *
 * The indexes are rebuilt into new files, as REINDEX does, so that an abort leaves the empty ones.
 * This is done in a subtransaction.  If it fails because of a row, the rows are inserted into the
 * empty indexes one by one, as PostgreSQL's COPY does: that fails at the row where COPY would fail,
 * with COPY's error.
 *
 * A new file is more work than inserting a few rows, and each of many partitions may have got only
 * a few.  Such rows are inserted in any case.  So are the rows of partitions that are in use; if
 * there are many of them, they are inserted in the order of their keys (load_entries.h).
 */
#include "postgres.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "load/load_build.h"
#include "load/load_entries.h"
#include "load/load_reinsert.h"
#include "load/load_try.h"
#include "pg_compat/tables.h"
#include "settings.h"

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
