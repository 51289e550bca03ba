/*
 * sort_fetch.h
 *		Fetching rows: what a sort has to show, by position.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_FETCH_H
#define GPUSORT_SORT_FETCH_H

#include "sort/sort.h"

/*
 * Have the row at a position, which exists, in memory.  Then the rows at positions *from .. *to - 1
 * are, and pointers to rows that were fetched before, from other positions, may be invalid.
 */
extern void gpusort_fetch_window(GpuSort *sort, uint64 position, uint64 *from, uint64 *to);

/*
 * Let rows be made of their keys when they are fetched, if all of their columns are sort columns
 * whose keys tell the values.  Returns whether they will be; if not, rows are stored.  To be called
 * only while the sort has no rows, with wanted = false if others look into the result
 * (sort_view.h).  Rows are also stored if the sort has a bound or is verified, or if a GPU will
 * probably have rows in order.
 */
extern bool gpusort_make_rows_of_keys(GpuSort *sort, bool wanted);

/*
 * Store the pointers of rows at positions from .. from + count - 1 in rows[], and prefetch what
 * that takes for the block after them.  Prefetching the tuples themselves (MinimalTuples or
 * IndexTuples) is up to the caller.  The pointers stay valid until another window is asked for, or
 * until the sort is reset or ended.  Rows that are made of their keys lie in room[], so their
 * pointers are also valid no longer than that is.  Not to be called if gpusort_tuplesort() is not
 * NULL.
 */
extern void gpusort_fetch_block(GpuSort *sort, uint64 from, int count,
								GpuSortRowRoom *room, void **rows);

/*
 * Make sorts need nothing of gpusortd any more, and wait for that: those that live in a memory
 * context or in one below it.  For a query that stops, and may go on at any time.
 */
extern void gpusort_rest(MemoryContext context);

/* Returns the average length of a row in the row store. */
extern size_t gpusort_row_bytes(const GpuSort *sort);

/*
 * Returns, of an index sort that was performed, a bitmap: bit i is set if all key columns of the
 * row at position i are equal to those of the row before, nulls included.
 */
extern const uint64 *gpusort_equal_rows(const GpuSort *sort);

/*
 * Returns the stored tuples of an index sort without key columns, which lie end to end in *bytes
 * bytes.  Valid until the next tuple is put.
 */
extern const void *gpusort_stored_rows(const GpuSort *sort, Size *bytes);

#endif							/* GPUSORT_SORT_FETCH_H */
