/*
 * shared_sort.h
 *		One sort by all participants of a Gather.  The nodes passed in are GpuSort Shared nodes.
 */
#ifndef GPUSORT_SHARED_SORT_H
#define GPUSORT_SHARED_SORT_H

#include "nodes/execnodes.h"

/*
 * Reads the child, sorts with the other participants or alone, and goes to the beginning of the
 * result.
 */
extern void gpusort_shared_make_result(PlanState *node);

/*
 * These are for a node above that has its participants make several shared sorts, and reads all
 * rows of each in every participant, by position.  That node has a barrier of its own.  Every
 * participant collects rows for all sorts.  When all have collected, one participant performs each
 * sort, while the others help until the result is there; or one performs two sorts, both at once if
 * possible (sort.h).  Then all participants open the results.  To be called only if
 * gpusort_shared_is_parallel() returns true.
 */
extern bool gpusort_shared_is_parallel(const PlanState *node);
extern void gpusort_shared_collect(PlanState *node);

/* Returns how many rows all participants together have collected.  All must have finished. */
extern uint64 gpusort_shared_collected(const PlanState *node);

extern void gpusort_shared_sort(PlanState *node);
extern void gpusort_shared_sort_both(PlanState *const nodes[2]);
extern void gpusort_shared_help(PlanState *node);
extern void gpusort_shared_open(PlanState *node);

#endif							/* GPUSORT_SHARED_SORT_H */
