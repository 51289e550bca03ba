/*
 * plan_group.h
 *		Aggregates in parallel workers that can't be computed in parts.
 */
#ifndef GPUSORT_PLAN_GROUP_H
#define GPUSORT_PLAN_GROUP_H

#include "nodes/pathnodes.h"

/*
 * Paths whose aggregates are computed by parallel workers, to be added to the grouped relation: a List
 * of Path, and what they cost (plan_slices.h).
 */
extern List *gpusort_make_group_paths(PlannerInfo *root, RelOptInfo *input_rel,
									  RelOptInfo *grouped_rel, Cost *cost);

#endif							/* GPUSORT_PLAN_GROUP_H */
