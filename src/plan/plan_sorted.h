/*
 * plan_sorted.h
 *		GpuSort paths over a relation's rows.
 */
#ifndef GPUSORT_PLAN_SORTED_H
#define GPUSORT_PLAN_SORTED_H

#include "nodes/pathnodes.h"

/*
 * Makes paths of rel, a List of Path, that sort the input's rows by pathkeys: one over the cheapest
 * path, which should not be in that order already, and one for each path that workers read.  The
 * paths have the targets of their inputs, and the caller adds them.  limit_rows is as in
 * gpusort_cost_until().
 */
extern List *gpusort_make_sorted_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
									   List *pathkeys, double limit_rows);

/*
 * Makes a path that sorts the rows of a partial path in each participant; returns NULL if that is
 * not worth it.
 */
extern Path *gpusort_make_participants_path(PlannerInfo *root, RelOptInfo *rel, Path *partial,
											List *pathkeys);

/* Returns whether foreign servers compute what the path returns, such as groups. */
extern bool gpusort_is_computed_remotely(const Path *path);

/* Returns whether foreign servers deliver all order that the path has. */
extern bool gpusort_is_sorted_remotely(const Path *path);

#endif							/* GPUSORT_PLAN_SORTED_H */
