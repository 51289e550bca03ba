/*
 * sort_input.h
 *		Draining the input of a sort.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_INPUT_H
#define GPUSORT_SORT_INPUT_H

#include "access/htup.h"
#include "nodes/execnodes.h"

#include "sort/sort.h"

/*
 * Where the rows of a node go, and how far it has been read.  Set up with child,
 * sort, is_part and projections, the rest zero.
 */
typedef struct GpuSortInput
{
	PlanState  *child;			/* initialised for forward scans */
	GpuSort    *sort;			/* NULL: every row is refused */
	bool		is_part;		/* sort is a part (sort_parts.h): it may refuse
								 * rows */
	List	   *projections;	/* of the child, as gpusort_prepare_input() made them */
	TupleTableSlot *first;		/* its first row, if that has been read already; else NULL */
	uint64		taken;			/* rows that the sort took, */
	uint64		from_pages;		/* ... of these from their pages, without having been rows of the child's */

	/* a table that is being read page by page */
	ScanState  *scan;			/* the child, or one below it; NULL: none is */
	bool		(*put_tuple) (GpuSort *sort, HeapTuple tuple);	/* NULL: as a row only */
	struct GpuSortProjection *evaluate; /* has expressions to evaluate before; NULL: there are none */
	struct GpuSortProjection *subquery; /* rows are those of a subquery above the scan; NULL: its own */
	uint64		uncharged;		/* rows to be counted in the node's
								 * instrumentation */
	HeapTupleData tuple;		/* what the scan slot refers to */
} GpuSortInput;

/*
 * What a child's scans make of their tables' tuples, with the query's memory; NIL: nothing that could
 * be made without them.  For a child that was initialised just now: whether the user may call a function
 * is asked when the query starts, perhaps of another user than who fetches its rows.
 */
extern List *gpusort_prepare_input(PlanState *child);

/* Calls of lower() and upper() that these have done without so far. */
extern uint64 gpusort_calls_saved(const List *projections);

/*
 * Rows that others look at the first columns of only: if the rest are these once more, under other
 * labels (ORDER BY t COLLATE "C"), let the spec name the first ones for them.  False if some are
 * not; then the spec is as it was.
 */
extern bool gpusort_sort_by_originals(PlanState *child, const List *projections, int nwanted,
									  GpuSortSpec *spec);

/*
 * Read the child to its end: NULL.  Or to a row that the sort does not take,
 * which is returned and valid until the next call goes on behind it.
 */
extern TupleTableSlot *gpusort_drain_input(GpuSortInput *input);

#endif							/* GPUSORT_SORT_INPUT_H */
