/*
 * plan_order_by.h
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 */
#ifndef GPUSORT_PLAN_ORDER_BY_H
#define GPUSORT_PLAN_ORDER_BY_H

#include "nodes/pathnodes.h"

/* Adds paths that sort the input's rows by root->sort_pathkeys. */
extern void gpusort_add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *ordered_rel);

#endif							/* GPUSORT_PLAN_ORDER_BY_H */
