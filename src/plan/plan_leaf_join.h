/*
 * plan_leaf_join.h
 *		The plan node "Custom Scan (GpuSort Index Join)".
 *
 *		Gather
 *		  -> Parallel Custom Scan (GpuSort Index Join)
 *		    -> Index Only Scan
 *		    -> Index Only Scan
 *
 * It is a merge join of two btrees in the order of its keys, which reads their leaf pages
 * (src/leaves).  Its children are index-only scans of whole indexes; in a parallel plan each
 * participant joins ranges of the keys.  The node gets into plans as a GpuSort Join does, and has
 * the custom_exprs and custom_private of one (plan_join.h).
 */
#ifndef GPUSORT_PLAN_LEAF_JOIN_H
#define GPUSORT_PLAN_LEAF_JOIN_H

#include "nodes/pathnodes.h"

/* Adds the paths of such joins.  The arguments are set_join_pathlist_hook's. */
extern void gpusort_add_leaf_join_paths(PlannerInfo *root, RelOptInfo *joinrel,
										RelOptInfo *outerrel, RelOptInfo *innerrel,
										JoinType jointype, JoinPathExtraData *extra);

#endif							/* GPUSORT_PLAN_LEAF_JOIN_H */
