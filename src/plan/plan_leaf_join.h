/*
 * plan_leaf_join.h
 *		The plan node "Custom Scan (GpuSort Index Join)".
 *
 *		Gather
 *		  -> Parallel Custom Scan (GpuSort Index Join)
 *		    -> Index Only Scan
 *		    -> Index Only Scan
 *
 * A merge join of two btrees that come in the order of its keys, by their leaf pages (src/leaves).  Its
 * children are index-only scans of all of an index; in a parallel plan each participant joins ranges of
 * the keys.  It becomes a plan as a GpuSort Join does, and its custom_exprs and custom_private are that
 * node's (plan_join.h).
 */
#ifndef GPUSORT_PLAN_LEAF_JOIN_H
#define GPUSORT_PLAN_LEAF_JOIN_H

#include "nodes/pathnodes.h"

/* The arguments are set_join_pathlist_hook's. */
extern void gpusort_add_leaf_join_paths(PlannerInfo *root, RelOptInfo *joinrel,
										RelOptInfo *outerrel, RelOptInfo *innerrel,
										JoinType jointype, JoinPathExtraData *extra);

#endif							/* GPUSORT_PLAN_LEAF_JOIN_H */
