/*
 * input_projection.c
 *		What a scan makes of its table's tuples; see projection_private.h.
 *
 * A relabelled column counts as the column itself, since its value is the same.
 *
 * Expressions with subplans are left to the executor: a subplan's node belongs to the one
 * expression that was initialized with it.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "pg_compat.h"
#include "sort/projection_private.h"

/*
 * Returns the number of the table's attribute if an expression is nothing but this attribute, else
 * 0.
 */
static AttrNumber
scanned_attribute(const ScanState *node, const Expr *expr)
{
	const Var  *var;

	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	var = (const Var *) expr;
	return IsA(var, Var) && var->varno == ((const Scan *) node->ps.plan)->scanrelid &&
		var->varattno > 0 ? var->varattno : 0;
}

/*
 * Returns what it takes to compute an expression that is lower() or upper() of a column of the
 * table, or NULL.
 */
static GpuSortLetterCase *
letter_case(const ScanState *node, const Expr *expr)
{
	const FuncExpr *call = gpusort_find_letter_case(expr);
	AttrNumber	attno = call != NULL ? scanned_attribute(node, linitial(call->args)) : 0;

	return attno != 0 ? gpusort_make_letter_case(call, attno) : NULL;
}

/*
 * Makes the projection of a scan that returns the rows of `top`.  tlist is the target list of
 * `top`, expressed by the scan's columns.  Returns NULL if it has subplans.
 */
static GpuSortProjection *
begin_projection(ScanState *node, PlanState *top, const List *tlist)
{
	int			ncolumns = list_length(tlist);
	GpuSortProjection *projection;
	GpuSortRowColumns *columns;
	MemoryContext old;
	ListCell   *lc;

	if (contain_subplans((Node *) tlist))
		return NULL;
	old = MemoryContextSwitchTo(node->ps.state->es_query_cxt);
	projection = palloc0(sizeof(GpuSortProjection));
	projection->node = node;
	projection->top = top;
	projection->expressions = palloc(ncolumns * sizeof(ExprState *));
	projection->letter_cases = palloc(ncolumns * sizeof(GpuSortLetterCase *));
	columns = &projection->columns;
	columns->table = node->ss_ScanTupleSlot->tts_tupleDescriptor;
	columns->ncolumns = ncolumns;
	columns->attnos = palloc(ncolumns * sizeof(AttrNumber));
	columns->values = palloc(ncolumns * sizeof(Datum));
	columns->isnull = palloc(ncolumns * sizeof(bool));
	foreach(lc, tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;
		AttrNumber	attno = scanned_attribute(node, expr);

		columns->attnos[foreach_current_index(lc)] = attno;
		if (attno != 0)
			continue;
		projection->letter_cases[columns->nvalues] = letter_case(node, expr);
		projection->expressions[columns->nvalues++] = ExecInitExpr(expr, &node->ps);
	}
	MemoryContextSwitchTo(old);
	return projection;
}

/* The context of express(). */
typedef struct Expression
{
	Index		relid;			/* varno of the references to be replaced */
	const List *columns;		/* target list that they refer to */
	bool		refers_otherwise;	/* some reference is to a whole row, or to a system column */
} Expression;

/*
 * Copies an expression, and replaces each reference to a column of the node below a subquery by the
 * expression that the node's target list has for this column.
 */
static Node *
express(Node *node, void *context)
{
	Expression *expression = context;
	const Var  *var = (const Var *) node;

	if (node == NULL)
		return NULL;
	if (!IsA(var, Var) || var->varno != expression->relid)
		return expression_tree_mutator(node, express, context);
	if (var->varattno > 0 && var->varattno <= list_length(expression->columns))
		return copyObject((Node *) list_nth_node(TargetEntry, expression->columns,
												 var->varattno - 1)->expr);
	expression->refers_otherwise = true;
	return node;
}

/*
 * Returns the target list of above->top, expressed by what the columns of `node` are made of, or
 * NIL if that is impossible.  `node` is the node below the lowest subquery.  Each expression of the
 * node may then be evaluated once for each reference to it, or not at all, so none may be volatile.
 */
static List *
express_by_columns(const GpuSortSubquery *above, const PlanState *node)
{
	Expression	expression = {above->relid, node->plan->targetlist, false};
	MemoryContext old = MemoryContextSwitchTo(node->state->es_query_cxt);
	List	   *tlist = (List *) express((Node *) above->tlist, &expression);

	MemoryContextSwitchTo(old);
	return expression.refers_otherwise || contain_subplans((Node *) expression.columns) ||
		contain_volatile_functions((Node *) expression.columns) ? NIL : tlist;
}

bool
gpusort_look_through_subquery(SubqueryScanState *node, const GpuSortSubquery *above,
							  GpuSortSubquery *subquery)
{
	PlanState  *ps = &node->ss.ps;

	if (ps->qual != NULL)
		return false;
	subquery->top = above != NULL ? above->top : ps;
	subquery->relid = ((const Scan *) ps->plan)->scanrelid;
	subquery->tlist = above != NULL ? express_by_columns(above, ps) : ps->plan->targetlist;
	return subquery->tlist != NIL && subquery->top->ps_ProjInfo != NULL;
}

GpuSortProjection *
gpusort_begin_projection(ScanState *node, const GpuSortSubquery *above)
{
	List	   *tlist = node->ps.plan->targetlist;

	if (above == NULL)
		return node->ps.ps_ProjInfo != NULL ? begin_projection(node, &node->ps, tlist) : NULL;
	tlist = express_by_columns(above, &node->ps);
	return tlist != NIL ? begin_projection(node, above->top, tlist) : NULL;
}

/*
 * Returns whether the value of a column is a pointer to an expanded object, which must be
 * flattened.
 */
static inline bool
is_expanded(const GpuSortProjection *projection, int column, Datum value)
{
	TupleDesc	desc = projection->top->ps_ResultTupleDesc;

	return TupleDescAttr(desc, column)->attlen == -1 &&
		VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value));
}

/*
 * Computes lower() or upper() of the tuple's column without calling the function.  Returns false if
 * the function must be called.
 */
static bool
change_letter_case(GpuSortLetterCase *letters, TupleTableSlot *scanned, Datum *value,
				   bool *isnull)
{
	Datum		text = slot_getattr(scanned, letters->attno, isnull);

	return *isnull || gpusort_change_letter_case(letters, text, value);
}

void
gpusort_evaluate_projection(GpuSortProjection *projection)
{
	GpuSortRowColumns *columns = &projection->columns;
	ExprContext *econtext = projection->node->ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	int			n = 0;

	econtext->ecxt_scantuple = projection->node->ss_ScanTupleSlot;
	for (int i = 0; i < columns->ncolumns; i++)
	{
		Datum		value;

		if (columns->attnos[i] != 0)
			continue;
		if (projection->letter_cases[n] != NULL &&
			change_letter_case(projection->letter_cases[n], econtext->ecxt_scantuple,
							   &columns->values[n], &columns->isnull[n]))
		{
			n++;
			continue;
		}
		value = ExecEvalExpr(projection->expressions[n], econtext, &columns->isnull[n]);
		if (!columns->isnull[n] && is_expanded(projection, i, value))
			value = PointerGetDatum(detoast_external_attr((struct varlena *)
														  DatumGetPointer(value)));
		columns->values[n++] = value;
	}
	MemoryContextSwitchTo(old);
}

uint64
gpusort_projection_calls_saved(const GpuSortProjection *projection)
{
	uint64		saved = 0;

	for (int i = 0; i < projection->columns.nvalues; i++)
		if (projection->letter_cases[i] != NULL)
			saved += projection->letter_cases[i]->calls_saved;
	return saved;
}

TupleTableSlot *
gpusort_projected_row(GpuSortProjection *projection)
{
	const GpuSortRowColumns *columns = &projection->columns;
	TupleTableSlot *scanned = projection->node->ss_ScanTupleSlot;
	TupleTableSlot *row = projection->top->ps_ResultTupleSlot;
	int			n = 0;

	ExecClearTuple(row);
	for (int i = 0; i < columns->ncolumns; i++)
	{
		if (columns->attnos[i] != 0)
			row->tts_values[i] = slot_getattr(scanned, columns->attnos[i], &row->tts_isnull[i]);
		else
		{
			row->tts_values[i] = columns->values[n];
			row->tts_isnull[i] = columns->isnull[n++];
		}
	}
	return ExecStoreVirtualTuple(row);
}
