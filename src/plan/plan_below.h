/*
 * plan_below.h
 *		What is below a path.
 */
#ifndef GPUSORT_PLAN_BELOW_H
#define GPUSORT_PLAN_BELOW_H

#include "nodes/pathnodes.h"

/*
 * The path whose rows a path takes, if these are the rows of one: of a CustomPath, the first one.
 * NULL for joins, Appends, scans, and the steps of other kinds that stand above them.
 */
extern Path *gpusort_path_below(const Path *path);

/* The paths whose rows an Append or a MergeAppend takes; NIL for other paths. */
extern List *gpusort_appended_paths(const Path *path);

/* Does a test hold for all paths below a path, one or appended ones, and is there one at all? */
extern bool gpusort_all_below(const Path *path, bool (*test) (const Path *));

/* The input of a Sort or Incremental Sort, or the path itself. */
extern Path *gpusort_below_sort(Path *path);

#endif							/* GPUSORT_PLAN_BELOW_H */
