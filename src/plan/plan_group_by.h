/*
 * plan_group_by.h
 *		GROUP BY above a GpuSort, competing by cost.
 */
#ifndef GPUSORT_PLAN_GROUP_BY_H
#define GPUSORT_PLAN_GROUP_BY_H

#include "nodes/pathnodes.h"

/*
 * Adds paths that sort the input's rows and group neighbours, in the leader or in workers, and
 * paths for aggregates over distinct or ordered values.  extra is what the planner's hook gets.
 */
extern void gpusort_add_group_by_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *grouped_rel, const GroupPathExtraData *extra);

#endif							/* GPUSORT_PLAN_GROUP_BY_H */
