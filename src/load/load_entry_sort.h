/*
 * load_entry_sort.h
 *		New entries of a btree index, in its order.
 */
#ifndef GPUSORT_LOAD_ENTRY_SORT_H
#define GPUSORT_LOAD_ENTRY_SORT_H

#include "storage/itemptr.h"
#include "utils/relcache.h"

typedef struct GpuSortEntrySort GpuSortEntrySort;

/*
 * About so many rows are going to come, from a table to its index, in the current context.  "careful": the server's own sort
 * takes them, which takes all.
 */
extern GpuSortEntrySort *gpusort_entry_sort_begin(Relation heap, Relation index, uint64 rows, bool careful);

/* False: this sort can't have all of them.  Another one, a careful one, can. */
extern bool gpusort_entry_sort_put(GpuSortEntrySort *sort, const Datum *values, const bool *isnull, ItemPointer tid);

/* All are there; false as above. */
extern bool gpusort_entry_sort_perform(GpuSortEntrySort *sort);

/* The next ones (IndexTuple), at most so many, by key and TID; they stay until others are asked for.  Returns how many there are. */
extern int	gpusort_entry_sort_next(GpuSortEntrySort *sort, void **entries, int most);

extern void gpusort_entry_sort_end(GpuSortEntrySort *sort);

#endif							/* GPUSORT_LOAD_ENTRY_SORT_H */
