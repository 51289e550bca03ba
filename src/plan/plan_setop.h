/*
 * plan_setop.h
 *		UNION, INTERSECT and EXCEPT above a GpuSort, competing by cost.
 */
#ifndef GPUSORT_PLAN_SETOP_H
#define GPUSORT_PLAN_SETOP_H

#include "nodes/pathnodes.h"

/* Adds our paths to a set operation's relation, which has the planner's already. */
extern void gpusort_add_setop_paths(PlannerInfo *root, RelOptInfo *setop_rel);

#endif							/* GPUSORT_PLAN_SETOP_H */
