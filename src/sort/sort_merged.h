/*
 * sort_merged.h
 *		Two sorts whose rows gpusortd puts in one order.
 *
 * A join of two sorted sides merges them.  If gpusortd sorts the rows of both sides by one job,
 * they come out merged, and the bitmap of equal neighbours says which rows have the same key
 * (engine/gs_merged.h).  So nobody has to compare keys again, nor to make keys of rows.
 *
 * This takes keys that can be compared by nothing but the words that the engine sees: words of the
 * same codec, and no string that goes on behind its word.  Rows stay where they are, and both sorts
 * have views as ever; only the order is common.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_MERGED_H
#define GPUSORT_SORT_MERGED_H

#include "sort/sort.h"

/*
 * Returns whether it is likely that sorts of these specifications can be merged, and that it pays.
 * The answer may differ between processes of a query.
 */
extern bool gpusort_may_merge(const GpuSortSpec *const specs[2], const TupleDesc descs[2]);

/*
 * For gpusort_perform_merged(): find the order of the rows of both sorts.  Returns false if each
 * has to be sorted by itself, which is still possible then.
 */
extern bool gpusort_merge_rows(GpuSort *const sorts[2]);

#endif							/* GPUSORT_SORT_MERGED_H */
