/*
 * plan_distinct.h
 *		DISTINCT and DISTINCT ON above a GpuSort, competing by cost.
 */
#ifndef GPUSORT_PLAN_DISTINCT_H
#define GPUSORT_PLAN_DISTINCT_H

#include "nodes/pathnodes.h"

/* Adds paths that sort the input's rows and leave out rows that equal the one before. */
extern void gpusort_add_distinct_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *distinct_rel);

#endif							/* GPUSORT_PLAN_DISTINCT_H */
