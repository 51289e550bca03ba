/*
 * plan_group.h
 *		Aggregates in parallel workers that can't be computed in parts.
 */
#ifndef GPUSORT_PLAN_GROUP_H
#define GPUSORT_PLAN_GROUP_H

#include "nodes/pathnodes.h"

/*
 * Makes paths whose aggregates are computed by parallel workers: a List of Path, for the caller to
 * add to the grouped relation.  *cost is what they cost if each row is charged what it takes in a
 * Gather (plan_slices.h).
 */
extern List *gpusort_make_group_paths(PlannerInfo *root, RelOptInfo *input_rel,
									  RelOptInfo *grouped_rel, Cost *cost);

#endif							/* GPUSORT_PLAN_GROUP_H */
