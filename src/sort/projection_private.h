/*
 * projection_private.h
 *		What a scan makes of its table's tuples: columns, and values of expressions.
 */
#ifndef GPUSORT_PROJECTION_PRIVATE_H
#define GPUSORT_PROJECTION_PRIVATE_H

#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

#include "sort/sort.h"

/* ---------- letter case: lower() and upper() of a column, without calling them ---------- */

/*
 * A call of lower() costs as much as everything else that is done for a row sorted by it: it makes
 * a C string of the value, a second C string of the first, and a value of the second.  Here ASCII
 * letters are changed eight bytes at a time.  That is right only if the collation changes ASCII
 * characters as the C locale does, which its function is asked once.  Values with other characters
 * are left to the function.
 */

typedef struct GpuSortLetterCase
{
	Oid			function;		/* F_LOWER_TEXT or F_UPPER_TEXT */
	Oid			collation;
	AttrNumber	attno;			/* the table's attribute */
	bool		is_asked;		/* is_plain is known */
	bool		is_plain;		/* the collation changes ASCII characters as C does */
	uint64		calls_saved;	/* values computed without calling the function */
} GpuSortLetterCase;

/*
 * Returns the call of lower() or upper() for a text that an expression consists of, or NULL if it
 * is another expression.
 */
extern const FuncExpr *gpusort_find_letter_case(const Expr *expr);

/*
 * Makes what it takes to compute this call for values of attribute attno, in the current memory
 * context.
 */
extern GpuSortLetterCase *gpusort_make_letter_case(const FuncExpr *call, AttrNumber attno);

/*
 * Computes the function's value for a text, which must not be null, in the current memory context.
 * Returns false if the function must be called instead.
 */
extern bool gpusort_change_letter_case(GpuSortLetterCase *letters, Datum text, Datum *value);

/* ---------- projections of scans ---------- */

/*
 * The executor's projection evaluates a whole target list.  A sort that reads tuples from their
 * pages (sort_input.h) copies the table's columns by itself (row_store_columns.c), so it only needs
 * the values of the other expressions.  They are evaluated once for each tuple, in the order of the
 * target list.
 *
 * Subqueries that filter nothing are looked through: a UNION ALL, for example, or a member of one
 * whose columns are cast.  What such a subquery makes of its columns is expressed by the columns of
 * the table.
 */

typedef struct GpuSortProjection
{
	ScanState  *node;			/* the scan of the table */
	/* whose rows are made: `node`, or the uppermost subquery above it */
	PlanState  *top;
	GpuSortRowColumns columns;	/* where each column of these rows comes from */
	ExprState **expressions;	/* one for each of columns.nvalues */
	/* for each expression: a lower() or upper() that is computed without calling it, or NULL */
	GpuSortLetterCase **letter_cases;
} GpuSortProjection;

/* The chain of subqueries above a node, as far as they have been looked through. */
typedef struct GpuSortSubquery
{
	PlanState  *top;			/* the uppermost subquery of the chain */
	/* varno by which tlist refers to columns of the node below the lowest subquery */
	Index		relid;
	/* the target list of `top`, expressed by the columns of that node */
	List	   *tlist;
} GpuSortSubquery;

/*
 * Looks through one more subquery, which is below those in *above (NULL: none), and describes the
 * longer chain in *subquery.  Returns false if the subquery has to be executed.
 */
extern bool gpusort_look_through_subquery(SubqueryScanState *node, const GpuSortSubquery *above,
										  GpuSortSubquery *subquery);

/*
 * Prepares the projection of a scan, which may be below subqueries (*above, or NULL).  Memory is
 * the query's.  Returns NULL if the executor has to make the rows, or if there is no projection at
 * all.
 */
extern GpuSortProjection *gpusort_begin_projection(ScanState *node, const GpuSortSubquery *above);

/*
 * Evaluates the expressions for the tuple in the scan's slot.  The values go to columns.values, and
 * live in the per-tuple memory of the scan's expression context.
 */
extern void gpusort_evaluate_projection(GpuSortProjection *projection);

/* Returns how many calls of lower() and upper() the projection has saved. */
extern uint64 gpusort_projection_calls_saved(const GpuSortProjection *projection);

/*
 * Returns the row that is made of the tuple in the scan's slot and of the values that were
 * evaluated last.  It is a virtual tuple in the result slot of `top`.
 */
extern TupleTableSlot *gpusort_projected_row(GpuSortProjection *projection);

#endif							/* GPUSORT_PROJECTION_PRIVATE_H */
