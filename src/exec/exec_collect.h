/*
 * exec_collect.h
 *		Executing a GpuSort Collect node, and what the GpuSort node above asks of it.
 */
#ifndef GPUSORT_EXEC_COLLECT_H
#define GPUSORT_EXEC_COLLECT_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

#include "sort/sort.h"

extern Node *gpusort_create_collect_state(CustomScan *scan);

typedef struct GpuSortCollectState GpuSortCollectState;

/* Returns the GpuSort Collect node below a GpuSort's child, or NULL if there is none. */
extern GpuSortCollectState *gpusort_find_collect(PlanState *child);

/* Returns the node whose rows the GpuSort Collect node collects. */
extern PlanState *gpusort_collect_input(GpuSortCollectState *node);

/*
 * Called by the GpuSort before it reads the Gather: the participants are to collect rows for this
 * sort, which is empty and lives in `context`.  If `sorts`, the participants also put the rows in
 * order when all have collected.
 */
extern void gpusort_collect_for(GpuSortCollectState *node, GpuSort *sort, MemoryContext context,
								bool sorts);

/*
 * Called by the GpuSort when it has read the Gather to its end: adds what was collected to the
 * sort.  Returns true if the participants have done that already, and have performed the sort.
 */
extern bool gpusort_collect_join(GpuSortCollectState *node);

#endif							/* GPUSORT_EXEC_COLLECT_H */
