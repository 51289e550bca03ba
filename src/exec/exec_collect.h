/*
 * exec_collect.h
 *		The GpuSort Collect node, as its GpuSort sees it.
 */
#ifndef GPUSORT_EXEC_COLLECT_H
#define GPUSORT_EXEC_COLLECT_H

#include "nodes/execnodes.h"

#include "sort/sort_input.h"
#include "exec/explain_node.h"
#include "sort/sort_parts.h"

/* In dynamic shared memory. */
typedef struct GpuSortCollectShared
{
	bool		sort_is_shared; /* else all rows go through Gather */
	uint32		parts_number;
	int			participants;	/* that there may be; the leader is number 0 */
	GpuSortCollectCounts counts[FLEXIBLE_ARRAY_MEMBER];
} GpuSortCollectShared;

typedef struct GpuSortCollectState
{
	CustomScanState css;		/* must be first field */
	GpuSortSpec spec;
	GpuSortCollectShared *shared;	/* NULL: there are no workers */

	/* in the leader, from gpusort_collect_for() to gpusort_collect_join() */
	GpuSort    *sort;			/* what all is collected for */
	MemoryContext sort_context;

	/* while rows are collected */
	GpuSortParts *parts;		/* NULL: the sort is no shared one */
	GpuSort    *part;			/* NULL: none, or not begun yet */
	MemoryContext part_context;
	GpuSortInput input;
	bool		begun;
	bool		finished;

	/* in the leader: counts of all participants, of the last execution */
	int			participants;
	GpuSortCollectCounts *counts;
} GpuSortCollectState;

/* The GpuSort Collect node below a GpuSort's child, or NULL. */
extern GpuSortCollectState *gpusort_find_collect(PlanState *child);

/* Before the Gather is read: collect for this sort, which is empty, in its context. */
extern void gpusort_collect_for(GpuSortCollectState *node, GpuSort *sort, MemoryContext context);

/* The Gather has been read to its end: add what was collected to the sort. */
extern void gpusort_collect_join(GpuSortCollectState *node);

#endif							/* GPUSORT_EXEC_COLLECT_H */
