/*
 * plan_sort_early.h
 *		GpuSort paths of a table below joins, for an ORDER BY with a LIMIT.
 */
#ifndef GPUSORT_PLAN_SORT_EARLY_H
#define GPUSORT_PLAN_SORT_EARLY_H

#include "nodes/pathnodes.h"

/* Adds paths that sort a base relation by what the query wants in the end, if that may pay. */
extern void gpusort_add_early_paths(PlannerInfo *root, RelOptInfo *rel);

/*
 * Removes paths of a join above such sorts that would take far too long if few rows have partners.
 */
extern void gpusort_drop_long_loops(PlannerInfo *root, RelOptInfo *joinrel);

#endif							/* GPUSORT_PLAN_SORT_EARLY_H */
