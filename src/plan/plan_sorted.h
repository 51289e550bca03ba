/*
 * plan_sorted.h
 *		GpuSort paths over a relation's rows.
 */
#ifndef GPUSORT_PLAN_SORTED_H
#define GPUSORT_PLAN_SORTED_H

#include "nodes/pathnodes.h"

/*
 * Paths of rel, a List of Path, that sort the input's rows by pathkeys: one over the cheapest
 * path, which should not be in that order, and one for each of those that workers read.  They
 * have the targets of these, and are not added yet.  limit_rows is as in gpusort_cost_until().
 */
extern List *gpusort_make_sorted_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
									   List *pathkeys, double limit_rows);

/* The rows of a partial path, sorted by each participant for itself; NULL if that is not worth it. */
extern Path *gpusort_make_participants_path(PlannerInfo *root, RelOptInfo *rel, Path *partial,
											List *pathkeys);

/* Do foreign servers compute what the path returns, such as groups? */
extern bool gpusort_is_computed_remotely(const Path *path);

/* Do foreign servers deliver all order that the path has? */
extern bool gpusort_is_sorted_remotely(const Path *path);

#endif							/* GPUSORT_PLAN_SORTED_H */
