/*
 * exec_ordered_set.c
 *		Executing a GpuSort Ordered Set node: percentiles and modes of sorted rows.
 *
 * The scan tuple is a row for each group.  It has the results of the aggregates, and columns of the
 * group's first row (groups_private.h); the node's target list and filter are expressions of these.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "exec/exec.h"
#include "exec/explain_private.h"
#include "exec/groups_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"

/* ---------- percentiles of a group's values, as PostgreSQL computes them ---------- */

/*
 * Results are the same as PostgreSQL's to the last bit, and so are errors and the order of checks:
 * a single fraction is checked before the values are counted, an array only if there are values.
 */

/*
 * A percentile_cont() or percentile_disc() of values of a type, for one fraction or an array of
 * fractions, which may be null.
 */
typedef struct GpuSortPercentile
{
	bool		continuous;
	bool		is_array;
	Oid			type;			/* of the values */
} GpuSortPercentile;

static void
check_fraction(double fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

/* Interpolates between two values of float8 or interval, the only types of percentile_cont(). */
static Datum
interpolate(Oid type, Datum low, Datum high, double share)
{
	if (type == FLOAT8OID)
	{
		double		from = DatumGetFloat8(low);
		double		to = DatumGetFloat8(high);

		return Float8GetDatum(from + (share * (to - from)));
	}
	high = DirectFunctionCall2(interval_mi, high, low);
	high = DirectFunctionCall2(interval_mul, high, Float8GetDatum(share));
	return DirectFunctionCall2(interval_pl, high, low);
}

/* Returns the percentile for one fraction.  There must be values. */
static Datum
one_percentile(const GpuSortPercentile *percentile, GpuSortGroupValues *values, double fraction)
{
	double		place;
	Datum		low;

	if (!percentile->continuous)
	{
		/*
		 * the first value whose number, counted from 1, is at least this fraction of their number
		 */
		int64		rows = (int64) ceil(fraction * (int64) values->nvalues);

		return gpusort_group_value(values, Max(rows, 1) - 1);
	}
	place = fraction * ((int64) values->nvalues - 1);
	low = gpusort_group_value(values, (uint64) floor(place));
	if (floor(place) == ceil(place))
		return low;
	return interpolate(percentile->type, low, gpusort_group_value(values, (uint64) ceil(place)),
					   place - floor(place));
}

/* Returns an array of percentiles with the same shape as the array of fractions. */
static Datum
several_percentiles(const GpuSortPercentile *percentile, GpuSortGroupValues *values,
					ArrayType *fractions)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int16		length;
	bool		by_value;
	char		align;

	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, &nulls, &count);
	if (count == 0)
		return PointerGetDatum(construct_empty_array(percentile->type));
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			check_fraction(DatumGetFloat8(elements[i]));
	}
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			elements[i] = one_percentile(percentile, values, DatumGetFloat8(elements[i]));
	}
	get_typlenbyvalalign(percentile->type, &length, &by_value, &align);
	return PointerGetDatum(construct_md_array(elements, nulls, ARR_NDIM(fractions),
											  ARR_DIMS(fractions), ARR_LBOUND(fractions),
											  percentile->type, length, by_value, align));
}

static Datum
gpusort_compute_percentile(const GpuSortPercentile *percentile, GpuSortGroupValues *values,
						   NullableDatum fraction, bool *isnull)
{
	if (!percentile->is_array && !fraction.isnull)
		check_fraction(DatumGetFloat8(fraction.value));
	*isnull = fraction.isnull || values->nvalues == 0;
	if (*isnull)
		return (Datum) 0;
	if (percentile->is_array)
		return several_percentiles(percentile, values, DatumGetArrayTypeP(fraction.value));
	return one_percentile(percentile, values, DatumGetFloat8(fraction.value));
}

/* ---------- the state of the node ---------- */

/* A column of the scan tuple. */
typedef struct SetColumn
{
	GpuSortSetFunction function;
	AttrNumber	attno;			/* for GPUSORT_SET_COLUMN: a column of the group's first row */
	GpuSortPercentile percentile;
	ExprState  *fraction;
} SetColumn;

typedef struct GpuSortOrderedSetState
{
	GpuSortGroupValues values;	/* must be first field */
	SetColumn  *columns;
} GpuSortOrderedSetState;

/* ---------- a group ---------- */

static Datum
compute_percentile(GpuSortOrderedSetState *node, const SetColumn *column, bool *isnull)
{
	ExprContext *econtext = node->values.groups.css.ss.ps.ps_ExprContext;
	NullableDatum fraction;

	econtext->ecxt_outertuple = node->values.first;
	fraction.value = ExecEvalExpr(column->fraction, econtext, &fraction.isnull);
	return gpusort_compute_percentile(&column->percentile, &node->values, fraction, isnull);
}

static Datum
compute_column(GpuSortOrderedSetState *node, const SetColumn *column, bool *isnull)
{
	GpuSortGroupValues *values = &node->values;

	*isnull = false;
	switch (column->function)
	{
		case GPUSORT_SET_ROWS:
			return Int64GetDatum((int64) values->nrows);
		case GPUSORT_SET_VALUES:
			return Int64GetDatum((int64) values->nvalues);
		case GPUSORT_SET_COLUMN:
			return slot_getattr(values->first, column->attno, isnull);
		case GPUSORT_SET_PERCENTILE_CONT:
		case GPUSORT_SET_PERCENTILE_DISC:
			return compute_percentile(node, column, isnull);
		default:
			break;
	}
	*isnull = values->nvalues == 0;
	if (*isnull)
		return (Datum) 0;
	return gpusort_group_value(values, column->function == GPUSORT_SET_FIRST ? 0
							   : column->function == GPUSORT_SET_LAST ? values->nvalues - 1
							   : gpusort_most_frequent(values));
}

/* Puts the group's columns into the slot.  Their values live in the per-tuple memory context. */
static void
make_row(GpuSortOrderedSetState *node, TupleTableSlot *slot)
{
	MemoryContext old =
		MemoryContextSwitchTo(node->values.groups.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
		slot->tts_values[i] = compute_column(node, &node->columns[i], &slot->tts_isnull[i]);
	MemoryContextSwitchTo(old);
}

/* ---------- the node ---------- */

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortOrderedSetState *node = (GpuSortOrderedSetState *) ps;
	TupleTableSlot *slot;

	do
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(ps->ps_ExprContext);
		if (!gpusort_next_group(&node->values))
			return NULL;
		make_row(node, node->values.groups.css.ss.ss_ScanTupleSlot);
		slot = gpusort_return_group(&node->values.groups);
	} while (slot == NULL);
	return slot;
}

static void
begin_aggregate(CustomScanState *css, SetColumn *column, const Aggref *aggref)
{
	gpusort_check_aggregate(aggref->aggfnoid);
	if (column->function != GPUSORT_SET_PERCENTILE_CONT &&
		column->function != GPUSORT_SET_PERCENTILE_DISC)
		return;
	column->percentile.continuous = column->function == GPUSORT_SET_PERCENTILE_CONT;
	column->percentile.is_array =
		OidIsValid(get_element_type(exprType((Node *) linitial(aggref->aggdirectargs))));
	column->percentile.type = exprType((Node *) linitial_node(TargetEntry, aggref->args)->expr);
	column->fraction = ExecInitExpr(linitial(aggref->aggdirectargs), &css->ss.ps);
}

static void
begin_node(CustomScanState *css, int eflags)
{
	GpuSortOrderedSetState *node = (GpuSortOrderedSetState *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	const List *functions = list_nth(scan->custom_private, GPUSORT_SET_FUNCTIONS);

	gpusort_begin_group_values(&node->values);
	node->values.without_rows = linitial_int(list_nth(scan->custom_private, GPUSORT_SET_PLAIN));
	node->columns = palloc0(list_length(functions) * sizeof(SetColumn));
	for (int i = 0; i < list_length(functions); i++)
	{
		Expr	   *expr = list_nth_node(TargetEntry, scan->custom_scan_tlist, i)->expr;

		node->columns[i].function = list_nth_int(functions, i);
		if (node->columns[i].function == GPUSORT_SET_COLUMN)
			node->columns[i].attno = castNode(Var, expr)->varattno;
		else
			begin_aggregate(css, &node->columns[i], castNode(Aggref, expr));
	}
}

static void
release_node(CustomScanState *css)
{
	gpusort_release_groups(css);
	gpusort_clear_group_values(&((GpuSortOrderedSetState *) css)->values);
}

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	const GpuSortGroupsNode *groups = (const GpuSortGroupsNode *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;

	if (groups->same != NULL)
		gpusort_explain_groups(css, list_nth(scan->custom_private, GPUSORT_SET_ATTNOS),
							   ancestors, es);
	if (es->analyze && groups->opened)
		ExplainPropertyText("Values", groups->by_position ? "by position" : "row by row", es);
}

GpuSortNodeKind gpusort_ordered_set_kind = {
	.methods = {
		.CustomName = GPUSORT_ORDERED_SET_NODE,
		.ReScanCustomScan = gpusort_rescan_groups,
		.ExplainCustomScan = explain_node
	},
	.state_bytes = sizeof(GpuSortOrderedSetState),
	.begin = begin_node,
	.next = exec_proc_node,
	.release = release_node
};
