/*
 * plan_group.h
 *		Aggregates in parallel workers that can't be computed in parts.
 */
#ifndef GPUSORT_PLAN_GROUP_H
#define GPUSORT_PLAN_GROUP_H

#include "nodes/pathnodes.h"

/* Add paths whose aggregates are computed by parallel workers; their cost (plan_slices.h). */
extern Cost gpusort_add_group_paths(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *grouped_rel);

#endif							/* GPUSORT_PLAN_GROUP_H */
