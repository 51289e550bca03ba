/*
 * plan_sorted_gathered.h
 *		GpuSort paths whose rows parallel workers collect.
 */
#ifndef GPUSORT_PLAN_SORTED_GATHERED_H
#define GPUSORT_PLAN_SORTED_GATHERED_H

#include "plan/plan_pathkeys.h"

/*
 * Makes paths that sort the input's rows by these keys: a List of Path, which are not projected
 * yet.
 */
extern List *gpusort_make_gathered_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
										 GpuSortPathKeys *keys, double limit_rows);

#endif							/* GPUSORT_PLAN_SORTED_GATHERED_H */
