/*
 * exec_sort.h
 *		Executing a GpuSort node.
 */
#ifndef GPUSORT_EXEC_SORT_H
#define GPUSORT_EXEC_SORT_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

extern Node *gpusort_create_sort_state(CustomScan *scan);

/* GpuSort nodes that were begun in this process, ever. */
extern uint64 gpusort_nodes_begun;

/* If the node is a GpuSort: this Limit takes rows of it, and nobody else does. */
extern void gpusort_tell_limit(PlanState *node, LimitState *limit);

#endif							/* GPUSORT_EXEC_SORT_H */
