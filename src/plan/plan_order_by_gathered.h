/*
 * plan_order_by_gathered.h
 *		GpuSort paths for the query's ORDER BY whose rows parallel workers collect.
 */
#ifndef GPUSORT_PLAN_ORDER_BY_GATHERED_H
#define GPUSORT_PLAN_ORDER_BY_GATHERED_H

#include "plan/plan_pathkeys.h"

/*
 * Paths that sort the input's rows by root->sort_pathkeys: a List of Path, not projected
 * yet.
 */
extern List *gpusort_make_gathered_paths(PlannerInfo *root, RelOptInfo *input_rel,
										 RelOptInfo *ordered_rel, const GpuSortPathKeys *keys,
										 double limit_rows);

#endif							/* GPUSORT_PLAN_ORDER_BY_GATHERED_H */
