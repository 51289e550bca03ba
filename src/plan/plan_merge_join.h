/*
 * plan_merge_join.h
 *		Merge joins whose inner side parallel workers sort together.
 */
#ifndef GPUSORT_PLAN_MERGE_JOIN_H
#define GPUSORT_PLAN_MERGE_JOIN_H

#include "nodes/pathnodes.h"

/* Add partial paths that join so; the arguments are set_join_pathlist_hook's. */
extern void gpusort_add_merge_join_paths(PlannerInfo *root, RelOptInfo *joinrel,
										 RelOptInfo *outerrel, RelOptInfo *innerrel,
										 JoinType jointype, JoinPathExtraData *extra);

#endif							/* GPUSORT_PLAN_MERGE_JOIN_H */
