/*
 * input_projection.h
 *		What a scan makes of its table's tuples: columns, and values of expressions.
 *
 * The executor's projection evaluates all of a target list.  A sort that takes tuples from their
 * pages (sort_input.h) copies the columns by itself (row_store_columns.h), and needs the
 * expressions only, which are evaluated once for each tuple, in their order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_INPUT_PROJECTION_H
#define GPUSORT_INPUT_PROJECTION_H

#include "nodes/execnodes.h"

#include "sort/row_columns.h"

typedef struct GpuSortProjection
{
	ScanState  *node;
	GpuSortRowColumns columns;	/* the node's */
	ExprState **expressions;
} GpuSortProjection;

/* For a scan that projects, with the query's memory; NULL: let the executor do it. */
extern GpuSortProjection *gpusort_begin_projection(ScanState *node);

/* Evaluate the expressions for the tuple in the scan's slot. */
extern void gpusort_evaluate_projection(GpuSortProjection *projection);

/* The row that is made of that tuple and these values, in the node's result slot. */
extern TupleTableSlot *gpusort_projected_row(GpuSortProjection *projection);

#endif							/* GPUSORT_INPUT_PROJECTION_H */
