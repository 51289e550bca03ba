/*
 * exec_collect.h
 *		Executing a GpuSort Collect node, and what its GpuSort asks of it.
 */
#ifndef GPUSORT_EXEC_COLLECT_H
#define GPUSORT_EXEC_COLLECT_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "sort/sort.h"

extern Node *gpusort_create_collect_state(CustomScan *scan);

typedef struct GpuSortCollectState GpuSortCollectState;

/* The GpuSort Collect node below a GpuSort's child, or NULL. */
extern GpuSortCollectState *gpusort_find_collect(PlanState *child);

/* What it collects the rows of. */
extern PlanState *gpusort_collect_input(GpuSortCollectState *node);

/*
 * Before the Gather is read: collect for this sort, which is empty, in its context; and if sorts, let
 * those who have collected put its rows in order.
 */
extern void gpusort_collect_for(GpuSortCollectState *node, GpuSort *sort, MemoryContext context,
								bool sorts);

/*
 * The Gather has been read to its end: add what was collected to the sort.  True if that was done
 * before, and the sort was performed.
 */
extern bool gpusort_collect_join(GpuSortCollectState *node);

#endif							/* GPUSORT_EXEC_COLLECT_H */
