/*
 * input_projection.h
 *		What a scan makes of its table's tuples: columns, and values of expressions.
 *
 * The executor's projection evaluates all of a target list.  A sort that takes tuples from their
 * pages (sort_input.h) copies the columns by itself (row_store_columns.h), and needs the
 * expressions only, which are evaluated once for each tuple, in their order.
 *
 * A subquery that filters nothing, such as a UNION ALL, or a member of one whose columns are cast, is
 * looked through: its columns are expressed by the table's.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_INPUT_PROJECTION_H
#define GPUSORT_INPUT_PROJECTION_H

#include "nodes/execnodes.h"

#include "sort/letter_case.h"
#include "sort/row_columns.h"

typedef struct GpuSortProjection
{
	ScanState  *node;			/* of the table */
	PlanState  *top;			/* whose rows are made: this node, or the subquery */
	GpuSortRowColumns columns;	/* the node's */
	ExprState **expressions;
	GpuSortLetterCase **letter_cases;	/* which of them need no evaluation as a rule; else NULL */
} GpuSortProjection;

/* Subqueries that a scan is below. */
typedef struct GpuSortSubquery
{
	PlanState  *top;			/* the uppermost of them */
	Index		relid;			/* that refers to the columns of what is below the lowest one: */
	List	   *tlist;			/* what `top` makes of them */
} GpuSortSubquery;

/* Look through one more; false if the executor has to do it. */
extern bool gpusort_look_through_subquery(SubqueryScanState *node, const GpuSortSubquery *above,
										  GpuSortSubquery *subquery);

/*
 * For a scan that projects, or is below subqueries (else NULL), with the query's memory; NULL: let the
 * executor do it.
 */
extern GpuSortProjection *gpusort_begin_projection(ScanState *node, const GpuSortSubquery *above);

/* Evaluate the expressions for the tuple in the scan's slot. */
extern void gpusort_evaluate_projection(GpuSortProjection *projection);

/* Calls of functions that it has done without. */
extern uint64 gpusort_projection_calls_saved(const GpuSortProjection *projection);

/* The row that is made of that tuple and these values, in the result slot of `top`. */
extern TupleTableSlot *gpusort_projected_row(GpuSortProjection *projection);

#endif							/* GPUSORT_INPUT_PROJECTION_H */
