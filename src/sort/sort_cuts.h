/*
 * sort_cuts.h
 *		Where a sorted result may be cut so that rows which are equal in the first
 *		columns stay together.
 *
 * Every process that has a view of the result finds the same places.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_CUTS_H
#define GPUSORT_SORT_CUTS_H

#include "sort/sort_view.h"

typedef struct GpuSortCutter GpuSortCutter;

/*
 * Begin to cut a view of minimal tuples, sorted by spec, between rows that differ in the first
 * ncolumns sort columns.  Returns a palloc'd cutter.  The view, the descriptor and the arrays of
 * the spec must live as long.
 */
extern GpuSortCutter *gpusort_begin_cuts(const GpuSortView *view, TupleDesc desc,
										 const GpuSortSpec *spec, int ncolumns);

/*
 * Returns the first position, from the given one on, whose row differs from the row before it, or
 * the number of rows if there is none.  Position 0 and positions behind the end are cuts
 * themselves.
 */
extern uint64 gpusort_find_cut(GpuSortCutter *cutter, uint64 position);

#endif							/* GPUSORT_SORT_CUTS_H */
