/*
 * load_indexes_private.h
 *		Filling the indexes of the tables that were loaded.
 *
 * There is one rule: indexes are filled fast, in ways that find out only whether some row is
 * refused.  If one is, the rows are gone through once more, in the order of their lines, and get
 * the entries that are still missing one by one, as in PostgreSQL's COPY: the server raises its
 * error at the line where COPY would have raised it.  That pass also fills what there is no fast
 * way for.
 */
#ifndef GPUSORT_LOAD_INDEXES_PRIVATE_H
#define GPUSORT_LOAD_INDEXES_PRIVATE_H

#include "access/itup.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

#include "table/table.h"
#include "load/load_state_private.h"

/* ---------- a leaf, open with its indexes ---------- */

typedef struct GpuSortOpenLeaf
{
	const GpuSortLoadState *state;
	GpuSortLeafNumber number;
	Relation	table;
	ResultRelInfo *result;		/* has the indexes */
	GpuSortOwnRows rows;		/* the rows that were loaded, as far as they were read */
	HeapTupleData row;			/* the one that was read last */
	TupleTableSlot *slot;		/* has this row */
} GpuSortOpenLeaf;

/* Opens a leaf and its indexes, and begins to read its rows; allocates in the current context. */
extern GpuSortOpenLeaf *gpusort_load_leaf_open(const GpuSortLoadState *state,
											   GpuSortLeafNumber number);

/*
 * Stores the next row in the slot, where it stays until the next call.  Returns false at the end.
 */
extern bool gpusort_load_leaf_next_row(GpuSortOpenLeaf *leaf);

extern void gpusort_load_leaf_close(GpuSortOpenLeaf *leaf);

/* Returns how many rows were loaded into a leaf. */
static inline uint64
gpusort_load_leaf_rows(const GpuSortLoadState *state, GpuSortLeafNumber number)
{
	return state->task->partitioned ? state->lines.order.rows[number] : state->counts.rows;
}

/* ---------- entries of a btree index, sorted ---------- */

typedef struct GpuSortEntrySort GpuSortEntrySort;

/*
 * Begins to sort about "rows" entries, which come from a table and belong into its index; allocates
 * in the current context.  gpusort's own sort may turn out to be unable to take all of them.  If
 * "careful" is true, the server's sort is used, which takes all.
 */
extern GpuSortEntrySort *gpusort_entry_sort_begin(Relation heap, Relation index, uint64 rows,
												  bool careful);

/*
 * Puts an entry into the sort.  Returns false if this sort can't take all entries: then the caller
 * has to begin a careful one.
 */
extern bool gpusort_entry_sort_put(GpuSortEntrySort *sort, const Datum *values, const bool *isnull,
								   ItemPointer tid);

/* Sorts the entries when all have been put; returns false as gpusort_entry_sort_put() does. */
extern bool gpusort_entry_sort_perform(GpuSortEntrySort *sort);

/*
 * Stores the next entries, which are IndexTuples, by key and TID, but not more than "most".  They
 * stay valid until the next call.  Returns how many there are.
 */
extern int	gpusort_entry_sort_next(GpuSortEntrySort *sort, void **entries, int most);

extern void gpusort_entry_sort_end(GpuSortEntrySort *sort);

/* ---------- entries of a btree index, inserted in the order of their keys ---------- */

/* An entry that an index has refused, after it had got all entries in front of this one. */
typedef struct GpuSortRefusedEntry
{
	GpuSortLeafNumber leaf;
	int			index;			/* the number of the index among those of the leaf */
	IndexTuple	entry;			/* it is in the index; NULL: no entry was refused */
} GpuSortRefusedEntry;

/* Returns whether entries can be inserted into an index in the order of their keys. */
extern bool gpusort_entries_are_sorted(const GpuSortOpenLeaf *leaf, int index);

/*
 * Inserts the entries of all rows of a leaf into an index, in the order of their keys, and returns
 * whether that was done.  If not, either the index has refused an entry, which is then in *refused,
 * or no entry was inserted, because some are so long that the index may refuse them, or because
 * sorting them would exceed temp_file_limit.
 */
extern bool gpusort_entries_insert(GpuSortOpenLeaf *leaf, int index,
								   GpuSortRefusedEntry *refused);

/*
 * Returns where an entry is in the order of an index, compared with the one that was refused: less
 * than 0 if it is in front of it, and so in the index.
 */
extern int	gpusort_entry_compare(Relation index, const Datum *values, const bool *isnull,
								  const ItemPointerData *tid, IndexTuple refused);

/* ---------- doing in a subtransaction what may fail where COPY would not ---------- */

/*
 * Calls do_it(arg) in a subtransaction of its own, and in the caller's memory context.  Returns
 * whether that has succeeded.  If it has raised an error that COPY may raise at some row, or has
 * exceeded temp_file_limit, all is undone; any other error is raised again.  The caller's memory
 * context and resource owner are current again afterwards.
 */
extern bool gpusort_load_try(void (*do_it) (void *arg), void *arg);

/* ---------- all indexes ---------- */

/*
 * Fills the indexes of all leaves with what was loaded.  If something is wrong with a row, for
 * example that its key is there already, the error is the one that PostgreSQL's COPY would raise,
 * at the same line.
 */
extern void gpusort_load_fill_indexes(GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_INDEXES_PRIVATE_H */
