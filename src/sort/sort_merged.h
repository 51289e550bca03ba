/*
 * sort_merged.h
 *		Two sorts whose rows gpusortd puts in one order.
 *
 * A join of two sorted sides merges them.  If gpusortd sorts the rows of both by one job, they come
 * out merged, and the bitmap of equal neighbours says which rows have the same key
 * (engine/gs_merged.h): nobody has to compare keys again, nor to make them of rows.
 *
 * That takes keys which are comparable by what the engine sees of them and nothing else: words
 * of the same codec, none of which is a string's that goes on.  Rows stay where they are, and both
 * sorts have views as ever; only the order is common.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_MERGED_H
#define GPUSORT_SORT_MERGED_H

#include "sort/sort.h"

/*
 * Is it likely that sorts of these specifications can be merged, and worth it?  What processes
 * of a query are told may differ.
 */
extern bool gpusort_may_merge(const GpuSortSpec *const specs[2], const TupleDesc descs[2]);

/*
 * For gpusort_perform_merged(): find the order of the rows of both; false if there are reasons for
 * sorting each by itself, which is possible then.
 */
extern bool gpusort_merge_rows(GpuSort *const sorts[2]);

#endif							/* GPUSORT_SORT_MERGED_H */
