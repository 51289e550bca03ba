/*
 * plan_ordered_set.c
 *		Agg nodes of percentile_cont(), percentile_disc() and mode(), above sorts of ours; see
 *		plan_node.h.
 *
 * In a result that lies in order, these aggregates need not see the rows one by one: a percentile
 * is one value, or two, at a position, and the mode is the longest run of equal rows.  Aggregates
 * beside them are allowed if they don't look at other columns either: counts, and the smallest and
 * largest value.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "plan/plan_aggregate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_replace_private.h"

/* ---------- which aggregates ---------- */

/*
 * Returns the operator in whose order the result of an aggregate such as min() or max() comes
 * first.
 */
static Oid
aggregate_sortop(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Oid			sortop = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		sortop = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
		ReleaseSysCache(tuple);
	}
	return sortop;
}

static bool
is_set_function(GpuSortSetFunction function)
{
	return function == GPUSORT_SET_PERCENTILE_CONT || function == GPUSORT_SET_PERCENTILE_DISC ||
		function == GPUSORT_SET_MODE;
}

static GpuSortSetFunction
ordered_set_function(const Aggref *aggref)
{
	switch (aggref->aggfnoid)
	{
		case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
		case F_PERCENTILE_DISC__FLOAT8_ANYELEMENT:
			return GPUSORT_SET_PERCENTILE_DISC;
		case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT_FLOAT8_INTERVAL:
		case F_PERCENTILE_CONT__FLOAT8_FLOAT8:
		case F_PERCENTILE_CONT__FLOAT8_INTERVAL:
			return GPUSORT_SET_PERCENTILE_CONT;
		case F_MODE:
			return GPUSORT_SET_MODE;
		default:
			return GPUSORT_SET_NONE;
	}
}

/* Returns the argument of an aggregate other than count(*). */
static Expr *
argument_of(const Aggref *aggref)
{
	return linitial_node(TargetEntry, aggref->args)->expr;
}

static bool
is_constant(const Expr *expr)
{
	return IsA(expr, Const) && !((const Const *) expr)->constisnull;
}

/* Returns what an aggregate makes of values that come in the order of an operator. */
static GpuSortSetFunction
function_of(const Aggref *aggref, Oid sortop)
{
	Oid			own;

	if (aggref->aggfilter != NULL || aggref->aggdistinct != NIL || aggref->agglevelsup > 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE)
		return GPUSORT_SET_NONE;
	if (aggref->aggkind == AGGKIND_ORDERED_SET)
		return linitial_node(SortGroupClause, aggref->aggorder)->sortop == sortop
			? ordered_set_function(aggref) : GPUSORT_SET_NONE;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggorder != NIL)
		return GPUSORT_SET_NONE;
	if (aggref->aggfnoid == F_COUNT_ ||
		(aggref->aggfnoid == F_COUNT_ANY && is_constant(argument_of(aggref))))
		return GPUSORT_SET_ROWS;
	if (aggref->aggfnoid == F_COUNT_ANY)
		return GPUSORT_SET_VALUES;
	own = list_length(aggref->args) == 1 ? aggregate_sortop(aggref->aggfnoid) : InvalidOid;
	if (!OidIsValid(own))
		return GPUSORT_SET_NONE;
	return own == sortop ? GPUSORT_SET_FIRST
		: own == get_commutator(sortop) ? GPUSORT_SET_LAST : GPUSORT_SET_NONE;
}

bool
gpusort_are_by_position(const List *aggregates, bool *mode)
{
	const Aggref *set = NULL;
	ListCell   *lc;

	*mode = false;
	foreach(lc, aggregates)
	{
		if (ordered_set_function(lfirst_node(Aggref, lc)) != GPUSORT_SET_NONE)
			set = lfirst_node(Aggref, lc);
	}
	if (set == NULL)
		return false;
	foreach(lc, aggregates)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);
		GpuSortSetFunction function =
			function_of(aggref, linitial_node(SortGroupClause, set->aggorder)->sortop);

		if (function == GPUSORT_SET_NONE ||
			(function != GPUSORT_SET_ROWS && !equal(argument_of(aggref), argument_of(set))))
			return false;
		*mode |= function == GPUSORT_SET_MODE;
	}
	return true;
}

/* ---------- finished plans ---------- */

/* What the expressions of an Agg become. */
typedef struct SetColumns
{
	GpuSortSpec spec;			/* sort key of the sort below */
	int			value;			/* index of the sort column that has the values */
	/* TargetEntries of the aggregates and columns that expressions are made of */
	List	   *columns;
	List	   *functions;		/* integers: a GpuSortSetFunction for each of columns */
	bool		any_set;
	bool		any_mode;
	bool		others;			/* there is something that can't be found by position */
} SetColumns;

/* Returns whether an expression is the column that has the values. */
static bool
is_value(const SetColumns *set, const Expr *expr)
{
	Oid			collation = exprCollation((const Node *) expr);

	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((const Var *) expr)->varno == OUTER_VAR &&
		((const Var *) expr)->varattno == set->spec.attnos[set->value] &&
		collation == set->spec.collations[set->value];
}

static GpuSortSetFunction
read_aggregate(SetColumns *set, const Aggref *aggref)
{
	GpuSortSetFunction function = function_of(aggref, set->spec.sortops[set->value]);

	if (function == GPUSORT_SET_NONE ||
		(function != GPUSORT_SET_ROWS && !is_value(set, argument_of(aggref))))
		set->others = true;
	set->any_set |= is_set_function(function);
	set->any_mode |= function == GPUSORT_SET_MODE;
	return function;
}

/*
 * Returns the column of custom_scan_tlist for this aggregate, or column of the group, and adds it
 * if it is not there.
 */
static Var *
find_column(SetColumns *set, Expr *expr, GpuSortSetFunction function)
{
	AttrNumber	attno = 1;
	ListCell   *lc;

	foreach(lc, set->columns)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, expr))
			break;
		attno++;
	}
	if (attno > list_length(set->columns))
	{
		set->columns = lappend(set->columns, makeTargetEntry(expr, attno, NULL, false));
		set->functions = lappend_int(set->functions, function);
	}
	return makeVar(INDEX_VAR, attno, exprType((Node *) expr), exprTypmod((Node *) expr),
				   exprCollation((Node *) expr), 0);
}

static Node *
replace_aggregates(Node *node, void *context)
{
	SetColumns *set = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
		return (Node *) find_column(set, (Expr *) node, read_aggregate(set, (Aggref *) node));
	if (IsA(node, Var))
	{
		set->others |= ((Var *) node)->varno != OUTER_VAR;
		return (Node *) find_column(set, (Expr *) node, GPUSORT_SET_COLUMN);
	}
	set->others |= IsA(node, GroupingFunc);
	return expression_tree_mutator(node, replace_aggregates, context);
}

/*
 * Returns whether the child of an Agg is a sort of ours by the columns of its groups and one more,
 * of which no group is in two slices.
 */
static bool
read_sort(const Agg *agg, SetColumns *set)
{
	const CustomScan *scan = (const CustomScan *) agg->plan.lefttree;

	if (!gpusort_is_readable_sort(&scan->scan.plan))
		return false;
	if (gpusort_is_node(&scan->scan.plan, GPUSORT_SHARED_NODE) &&
		gpusort_slice_columns(scan) > agg->numCols)
		return false;
	gpusort_read_spec(scan, &set->spec);
	set->value = agg->numCols;
	if (set->spec.nkeys != agg->numCols + 1)
		return false;
	for (int i = 0; i < agg->numCols; i++)
	{
		bool		found = false;

		for (int j = 0; j < agg->numCols && !found; j++)
			found = agg->grpColIdx[i] == set->spec.attnos[j];
		if (!found)
			return false;
	}
	return true;
}

static List *
private_of(const Agg *agg, const SetColumns *set)
{
	List	   *attnos = NIL;
	List	   *eqops = NIL;
	List	   *collations = NIL;

	for (int i = 0; i < agg->numCols; i++)
	{
		attnos = lappend_int(attnos, agg->grpColIdx[i]);
		eqops = lappend_oid(eqops, agg->grpOperators[i]);
		collations = lappend_oid(collations, agg->grpCollations[i]);
	}
	return list_make5(attnos, eqops, collations,
					  list_make1_int(agg->aggstrategy == AGG_PLAIN), set->functions);
}

Plan *
gpusort_finish_ordered_set(Agg *agg)
{
	SetColumns	set = {0};
	CustomScan *scan;
	List	   *columns;
	List	   *qual;

	if ((agg->aggstrategy != AGG_PLAIN && agg->aggstrategy != AGG_SORTED) ||
		agg->groupingSets != NIL || agg->aggsplit != AGGSPLIT_SIMPLE || !read_sort(agg, &set))
		return &agg->plan;
	columns = (List *) replace_aggregates((Node *) agg->plan.targetlist, &set);
	qual = (List *) replace_aggregates((Node *) agg->plan.qual, &set);
	if (set.others || !set.any_set)
		return &agg->plan;
	if (set.any_mode)
		gpusort_let_tell_equal((CustomScan *) agg->plan.lefttree);
	scan = makeNode(CustomScan);
	scan->scan.plan = agg->plan;
	NodeSetTag(scan, T_CustomScan);
	scan->scan.plan.targetlist = columns;
	scan->scan.plan.qual = qual;
	scan->custom_scan_tlist = set.columns;
	scan->custom_private = private_of(agg, &set);
	scan->methods = gpusort_node_methods(GPUSORT_ORDERED_SET_NODE);
	return &scan->scan.plan;
}
