/*
 * plan_below.h
 *		What is below a path.
 */
#ifndef GPUSORT_PLAN_BELOW_H
#define GPUSORT_PLAN_BELOW_H

#include "nodes/pathnodes.h"

/*
 * Returns the path whose rows a path takes, if there is exactly one; of a CustomPath, the first
 * one.  Returns NULL for joins, Appends, scans, and steps of other kinds.
 */
extern Path *gpusort_path_below(const Path *path);

/* Returns the paths whose rows an Append or a MergeAppend takes, or NIL for other paths. */
extern List *gpusort_appended_paths(const Path *path);

/* Returns whether there are paths directly below a path, and a test holds for all of them. */
extern bool gpusort_all_below(const Path *path, bool (*test) (const Path *));

/* Returns the input of a Sort or Incremental Sort, or the path itself if it is neither. */
extern Path *gpusort_below_sort(Path *path);

#endif							/* GPUSORT_PLAN_BELOW_H */
