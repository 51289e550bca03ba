/*
 * plan_merge_append.h
 *		One sort of all rows in the place of a MergeAppend above several sorts.
 */
#ifndef GPUSORT_PLAN_MERGE_APPEND_H
#define GPUSORT_PLAN_MERGE_APPEND_H

#include "plan/plan_estimate.h"

/*
 * Makes a Sort above an Append of what the sorts below a MergeAppend of a finished plan sort.
 * Returns NULL with *reason if the MergeAppend stays as it is.
 */
extern Sort *gpusort_sort_instead_of_merging(const MergeAppend *merge, GpuSortLimit limit,
											 const PlannedStmt *stmt, const char **reason);

/* Makes a Sort by what a MergeAppend merges by, without a child. */
extern Sort *gpusort_sort_of_merge(const MergeAppend *merge);

#endif							/* GPUSORT_PLAN_MERGE_APPEND_H */
