/*
 * sort_fetch.h
 *		Rows out: what a sort has to show, by position.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_FETCH_H
#define GPUSORT_SORT_FETCH_H

#include "sort/sort.h"

/*
 * Have the row at a position, which exists, in memory.  The rows at positions *from .. *to - 1 are
 * there then, and rows that were fetched from other ones may be gone.
 */
extern void gpusort_fetch_window(GpuSort *sort, uint64 position, uint64 *from, uint64 *to);

/*
 * Let rows be made of their keys when they are fetched, if all of their columns are sort columns
 * whose keys tell the values; false: they are stored.  Only while there are none, and not if others
 * look into the result (sort_view.h), a bound is known, or a GPU will have rows in order.
 */
extern bool gpusort_make_rows_of_keys(GpuSort *sort, bool wanted);

/*
 * Store the pointers of rows at positions from .. from + count - 1 in rows[],
 * and prefetch what that takes for the block after them; the tuples themselves
 * (MinimalTuple or IndexTuple) are the caller's to prefetch.  They stay valid
 * until another window is asked for, reset or end, and as long as what is in room[], where rows
 * that are made of their keys lie.  Only while gpusort_tuplesort() is NULL.
 */
extern void gpusort_fetch_block(GpuSort *sort, uint64 from, int count,
								GpuSortRowRoom *room, void **rows);

/*
 * Nobody knows when more rows will be fetched from the sorts that live in a memory context or
 * below: wait until they need nothing of gpusortd any more.
 */
extern void gpusort_rest(MemoryContext context);

/* Average bytes of a row in the row store. */
extern size_t gpusort_row_bytes(const GpuSort *sort);

/*
 * Of an index sort that was performed: bit i is set where all key columns of
 * the row at position i are equal to those of the row before, nulls included.
 */
extern const uint64 *gpusort_equal_rows(const GpuSort *sort);

/*
 * The stored tuples of an index sort without key columns, end to end.  Valid
 * until the next one comes.
 */
extern const void *gpusort_stored_rows(const GpuSort *sort, Size *bytes);

#endif							/* GPUSORT_SORT_FETCH_H */
