/*
 * shared_sort.h
 *		One sort by all participants of a Gather.  The nodes are GpuSort Shared nodes.
 */
#ifndef GPUSORT_SHARED_SORT_H
#define GPUSORT_SHARED_SORT_H

#include "nodes/execnodes.h"

/* Read the child, sort with the others or alone, and go to the beginning of the result. */
extern void gpusort_shared_make_result(PlanState *node);

/*
 * For a node above that has its participants make several shared sorts, all rows of which go to
 * each, and then reads them by position.  It has a barrier of its own: every participant collects
 * for all of them, one sorts each when all have, while others help until the sort is there, and then
 * all find the results.  Or one sorts two, at once if that can be had (sort_merged.h).  Only if the
 * node is in a parallel query.
 */
extern bool gpusort_shared_is_parallel(const PlanState *node);
extern void gpusort_shared_collect(PlanState *node);
extern uint64 gpusort_shared_collected(const PlanState *node);	/* rows, when all have */
extern void gpusort_shared_sort(PlanState *node);
extern void gpusort_shared_sort_both(PlanState *const nodes[2]);
extern void gpusort_shared_help(PlanState *node);
extern void gpusort_shared_open(PlanState *node);

#endif							/* GPUSORT_SHARED_SORT_H */
