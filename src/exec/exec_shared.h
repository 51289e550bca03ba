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
 * Fills in a view of all rows in order, valid until the node is rescanned.  Returns false if the
 * rows have to be read through the node.  Where there is no parallel query, the node sorts first.
 */
extern bool gpusort_shared_view(PlanState *node, GpuSortView *view);

/*
 * For a node above that reads this participant's slices by position.  gpusort_shared_slices() sorts
 * first, and returns false if the slices have to be read through the node.
 * gpusort_shared_next_slice() takes the next slice, positions *from .. *end - 1 of the view, and
 * returns false if there is none left for this participant.
 */
extern bool gpusort_shared_slices(PlanState *node, GpuSortView *view);
extern bool gpusort_shared_next_slice(PlanState *node, uint64 *from, uint64 *end);

#endif							/* GPUSORT_EXEC_SHARED_H */
