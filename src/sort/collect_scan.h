/*
 * collect_scan.h
 *		Draining the input of a sort.
 */
#ifndef GPUSORT_COLLECT_SCAN_H
#define GPUSORT_COLLECT_SCAN_H

#include "access/htup.h"
#include "nodes/execnodes.h"

#include "sort/sort_state.h"

/*
 * Where the rows of a node go, and how far it has been read.  Set up with child,
 * sort and is_part, the rest zero.
 */
typedef struct GpuSortDrain
{
	PlanState  *child;			/* initialised for forward scans */
	GpuSort    *sort;			/* NULL: every row is refused */
	bool		is_part;		/* sort is a part (sort_share.h): it may refuse
								 * rows */
	uint64		taken;			/* rows that the sort took */

	/* a table that is being read page by page */
	bool		in_page;
	bool		(*put_tuple) (GpuSort *sort, HeapTuple tuple);	/* NULL: as a row only */
	uint64		uncharged;		/* rows to be counted in the node's
								 * instrumentation */
	HeapTupleData tuple;		/* what the scan slot refers to */
} GpuSortDrain;

/*
 * Read the child to its end: NULL.  Or to a row that the sort does not take,
 * which is returned and valid until the next call goes on behind it.
 */
extern TupleTableSlot *gpusort_drain(GpuSortDrain *drain);

#endif							/* GPUSORT_COLLECT_SCAN_H */
