/*
 * exec_shared.h
 *		Executing a GpuSort Shared node.
 */
#ifndef GPUSORT_EXEC_SHARED_H
#define GPUSORT_EXEC_SHARED_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "sort/sort_view.h"

extern Node *gpusort_create_shared_state(CustomScan *scan);

/*
 * The rows in order, until the node is rescanned; false if they have to be read through the node.
 * Sorts first, where there is no parallel query.
 */
extern bool gpusort_shared_view(PlanState *node, GpuSortView *view);

/*
 * For a node above that reads the participant's slices by position.  Sorts first; false if they have to
 * be read through the node.  The next slice; false if there is none for this participant.
 */
extern bool gpusort_shared_slices(PlanState *node, GpuSortView *view);
extern bool gpusort_shared_next_slice(PlanState *node, uint64 *from, uint64 *end);

#endif							/* GPUSORT_EXEC_SHARED_H */
