/*
 * load_entry_sort.h
 *		Sorting new entries of a btree index into the order of the index.
 */
#ifndef GPUSORT_LOAD_ENTRY_SORT_H
#define GPUSORT_LOAD_ENTRY_SORT_H

#include "storage/itemptr.h"
#include "utils/relcache.h"

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

#endif							/* GPUSORT_LOAD_ENTRY_SORT_H */
