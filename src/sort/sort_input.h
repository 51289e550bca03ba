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
 * Where the rows of a node go, and how far the node has been read.  The caller sets child, sort,
 * is_part and projections, and the rest to zero.
 */
typedef struct GpuSortInput
{
	PlanState  *child;			/* the node, initialised for forward scans */
	GpuSort    *sort;			/* NULL: every row is refused */
	bool		is_part;		/* sort is a part (sort_parts.h), and may refuse rows */
	List	   *projections;	/* the child's, as gpusort_prepare_input() returned them */
	TupleTableSlot *first;	/* the child's first row, if that has been read already, else NULL */
	uint64		taken;			/* rows that the sort took */
	/* those of them taken from their pages, without having been rows of the child */
	uint64		from_pages;

	/* the table that is being read page by page */
	ScanState  *scan;			/* the scan, which is the child or below it; NULL: none is */
	/* puts a tuple on a page; NULL: tuples must become rows first */
	bool		(*put_tuple) (GpuSort *sort, HeapTuple tuple);
	/* projection whose expressions are evaluated before a tuple is put; NULL: there is none */
	struct GpuSortProjection *evaluate;
	/* projection that makes rows of a subquery above the scan; NULL: rows are the scan's own */
	struct GpuSortProjection *subquery;
	uint64		uncharged;		/* rows not yet counted in the nodes' instrumentation */
	HeapTupleData tuple;		/* the tuple that the scan slot refers to */
} GpuSortInput;

/*
 * Returns what a child's scans make of their tables' tuples (a list of GpuSortProjection), in the
 * current context; NIL if there is nothing that could be made without the scans.  To be called when
 * the child has just been initialised: whether the user may call a function is asked when the query
 * starts, because its rows may be fetched by another user.
 */
extern List *gpusort_prepare_input(PlanState *child);

/* Returns how many calls of lower() and upper() these projections have saved so far. */
extern uint64 gpusort_calls_saved(const List *projections);

/*
 * For rows of which others look at the first nwanted columns only: if the rest repeat some of these
 * under other labels (ORDER BY t COLLATE "C"), have the spec name the first ones instead.  Returns
 * false if some column doesn't; then the spec is unchanged.
 */
extern bool gpusort_sort_by_originals(PlanState *child, const List *projections, int nwanted,
									  GpuSortSpec *spec);

/*
 * Read the child to its end, and return NULL; or read it up to a row that the sort refuses, and
 * return that row.  It is valid until the next call, which goes on behind it.
 */
extern TupleTableSlot *gpusort_drain_input(GpuSortInput *input);

#endif							/* GPUSORT_SORT_INPUT_H */
