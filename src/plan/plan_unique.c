/*
 * plan_unique.c
 *		Unique nodes above sorts of ours, and Agg nodes that count the rows of either, or of joins
 *		of ours; see plan_node.h.
 *
 * The sort tells which rows are equal in all of its columns.  These are the rows that a Unique
 * takes for equal if it compares the same columns.  So DISTINCT ON with a longer ORDER BY keeps its
 * Unique.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"

#include "pg_compat/paths.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "plan/plan_replace_private.h"

void
gpusort_read_unique_key(const CustomScan *scan, GpuSortUniqueKey *key)
{
	const List *attnos = list_nth(scan->custom_private, GPUSORT_UNIQUE_ATTNOS);
	const List *eqops = list_nth(scan->custom_private, GPUSORT_UNIQUE_EQOPS);
	const List *collations = list_nth(scan->custom_private, GPUSORT_UNIQUE_COLLATIONS);

	key->count = list_length(attnos);
	key->attnos = palloc(key->count * sizeof(AttrNumber));
	key->eqops = palloc(key->count * sizeof(Oid));
	key->collations = palloc(key->count * sizeof(Oid));
	for (int i = 0; i < key->count; i++)
	{
		key->attnos[i] = (AttrNumber) list_nth_int(attnos, i);
		key->eqops[i] = list_nth_oid(eqops, i);
		key->collations[i] = list_nth_oid(collations, i);
	}
}

/* ---------- paths ---------- */

/* The cost of seeing whether a row is equal to the one before, if the sort tells: 2 ns. */
#define EQUAL_COST	0.0008

/* Nothing is compared, and the sort does not return rows that are equal to the one before. */
Path *
gpusort_make_unique_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *sorted, int ncolumns,
								double rows)
{
	Path	   *path = gpusort_make_unique_path(root, rel, sorted, ncolumns, rows);
	double		left_out = 1 - Min(rows / sorted->rows, 1);

	if (list_length(sorted->pathkeys) == ncolumns)
		path->total_cost -= sorted->rows * (ncolumns * cpu_operator_cost - EQUAL_COST) +
			(sorted->total_cost - sorted->startup_cost) * left_out;
	return path;
}

/* ---------- unique rows ---------- */

bool
gpusort_is_readable_sort(const Plan *plan)
{
	return (gpusort_is_node(plan, GPUSORT_NODE) && !gpusort_is_late((const CustomScan *) plan)) ||
		(gpusort_is_node(plan, GPUSORT_SHARED_NODE) &&
		 gpusort_slice_columns((const CustomScan *) plan) > 0);
}

/* Returns whether the columns are those of the sort, in any order. */
static bool
has_columns_of(const Unique *unique, const CustomScan *scan)
{
	GpuSortSpec spec;

	gpusort_read_spec(scan, &spec);
	if (unique->numCols != spec.nkeys)
		return false;
	for (int i = 0; i < spec.nkeys; i++)
	{
		bool		found = false;

		for (int j = 0; j < unique->numCols && !found; j++)
			found = unique->uniqColIdx[j] == spec.attnos[i] &&
				unique->uniqCollations[j] == spec.collations[i];
		if (!found)
			return false;
	}
	return true;
}

static List *
unique_key(const Unique *unique)
{
	List	   *attnos = NIL;
	List	   *eqops = NIL;
	List	   *collations = NIL;

	for (int i = 0; i < unique->numCols; i++)
	{
		attnos = lappend_int(attnos, unique->uniqColIdx[i]);
		eqops = lappend_oid(eqops, unique->uniqOperators[i]);
		collations = lappend_oid(collations, unique->uniqCollations[i]);
	}
	return list_make3(attnos, eqops, collations);
}

Plan *
gpusort_finish_unique(Unique *unique)
{
	CustomScan *scan;
	CustomScan *sort = (CustomScan *) unique->plan.lefttree;

	if (!gpusort_is_readable_sort(&sort->scan.plan) || !has_columns_of(unique, sort))
		return &unique->plan;
	gpusort_let_tell_equal(sort);
	scan = makeNode(CustomScan);
	scan->scan.plan = unique->plan;
	NodeSetTag(scan, T_CustomScan);
	scan->custom_private = unique_key(unique);
	scan->methods = gpusort_node_methods(GPUSORT_UNIQUE_NODE);
	scan->custom_scan_tlist = scan->scan.plan.targetlist;
	gpusort_reference_child(scan);
	return &scan->scan.plan;
}

/* ---------- counts ---------- */

/* What the target list of an Agg becomes. */
typedef struct Counts
{
	List	   *key;			/* columns compared, as in custom_private; none of a join */
	/* the Agg's input has equal rows, which its DISTINCT aggregates leave out */
	bool		distinct;
	List	   *columns;		/* TargetEntries of the counts, as the Agg has them */
	List	   *values;			/* integers: whether the count leaves out nulls */
	bool		others;			/* there is something else than counts */
} Counts;

/*
 * Returns the child's column that an expression is, as it is or relabeled, so that nulls and values
 * stay what they are; or InvalidAttrNumber.
 */
static AttrNumber
column_of(const Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((const RelabelType *) expr)->arg;
	if (IsA(expr, Var) && ((const Var *) expr)->varno == OUTER_VAR)
		return ((const Var *) expr)->varattno;
	return InvalidAttrNumber;
}

static bool
is_constant(const Expr *expr)
{
	return IsA(expr, Const) && !((const Const *) expr)->constisnull;
}

/*
 * Returns whether an aggregate counts the different rows: all of them, or, if *values, those whose
 * only column is not null.
 */
static bool
is_count(const Counts *counts, const Aggref *aggref, bool *values)
{
	const List *attnos = list_nth(counts->key, GPUSORT_UNIQUE_ATTNOS);

	*values = aggref->aggfnoid == F_COUNT_ANY &&
		!is_constant(linitial_node(TargetEntry, aggref->args)->expr);
	if ((aggref->aggdistinct != NIL) != counts->distinct || aggref->aggorder != NIL ||
		aggref->aggfilter != NULL || DO_AGGSPLIT_COMBINE(aggref->aggsplit) ||
		aggref->aggtype != INT8OID)
		return false;
	if (!*values)
		return !counts->distinct &&
			(aggref->aggfnoid == F_COUNT_ || aggref->aggfnoid == F_COUNT_ANY);
	return list_length(attnos) == 1 &&
		column_of(linitial_node(TargetEntry, aggref->args)->expr) == linitial_int(attnos);
}

static Node *
replace_counts(Node *node, void *context)
{
	Counts	   *counts = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		AttrNumber	attno = list_length(counts->columns) + 1;
		bool		values;

		counts->others |= !is_count(counts, (const Aggref *) node, &values);
		counts->columns = lappend(counts->columns,
								  makeTargetEntry((Expr *) node, attno, NULL, false));
		counts->values = lappend_int(counts->values, values);
		return (Node *) makeVar(INDEX_VAR, attno, INT8OID, -1, InvalidOid, 0);
	}
	counts->others |= IsA(node, Var);
	return expression_tree_mutator(node, replace_counts, context);
}

static bool
find_aggregate(Node *node, void *found)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		*(const Aggref **) found = (const Aggref *) node;
		return true;
	}
	return expression_tree_walker(node, find_aggregate, found);
}

/*
 * Returns what the first DISTINCT aggregate above a sort compares, if that is the only column
 * sorted by, or NIL.  From 16 on the planner has rows sorted for such aggregates, which then
 * compare neighbours.
 */
static List *
distinct_key(const Agg *agg, const CustomScan *sort)
{
	const Aggref *aggref = NULL;
	const SortGroupClause *clause;
	GpuSortSpec spec;

	(void) find_aggregate((Node *) agg->plan.targetlist, &aggref);
	if (aggref == NULL || list_length(aggref->aggdistinct) != 1 || list_length(aggref->args) != 1)
		return NIL;
	gpusort_read_spec(sort, &spec);
	clause = linitial_node(SortGroupClause, aggref->aggdistinct);
	if (spec.nkeys != 1 || clause->sortop != spec.sortops[0] ||
		exprCollation((Node *) linitial_node(TargetEntry, aggref->args)->expr) !=
		spec.collations[0])
		return NIL;
	return list_make3(list_make1_int(spec.attnos[0]), list_make1_oid(clause->eqop),
					  list_make1_oid(spec.collations[0]));
}

/*
 * Returns whether a node is a join of ours that has no conditions but those on its keys, and
 * returns no columns.  A column may be an expression that has to be evaluated for each row, for
 * example a volatile function in a subquery.
 */
static bool
is_bare_join(const Plan *plan)
{
	const CustomScan *scan = (const CustomScan *) plan;

	return (gpusort_is_node(plan, GPUSORT_JOIN_NODE) ||
			gpusort_is_node(plan, GPUSORT_LEAF_JOIN_NODE)) &&
		scan->custom_scan_tlist == NIL &&
		list_nth(scan->custom_exprs, GPUSORT_JOIN_FILTER) == NIL &&
		list_nth(scan->custom_exprs, GPUSORT_JOIN_OTHER) == NIL;
}

/*
 * Returns the sort or join below an Agg whose rows are to be counted, or NULL if there is none, or
 * the sort's equal rows are wanted.  Fills in what the counts are of.
 */
static Plan *
rows_to_count(const Agg *agg, Counts *counts)
{
	Plan	   *child = agg->plan.lefttree;

	if (is_bare_join(child))
	{
		counts->key = list_make3(NIL, NIL, NIL);
		return child;
	}

	if (gpusort_is_node(child, GPUSORT_UNIQUE_NODE) && child->initPlan == NIL)
	{
		counts->key = ((const CustomScan *) child)->custom_private;
		return child->lefttree;
	}
	if (!gpusort_is_readable_sort(child))
		return NULL;
	counts->key = distinct_key(agg, (const CustomScan *) child);
	counts->distinct = true;
	return counts->key != NIL ? child : NULL;
}

/*
 * The node counts the different rows of a sort, or all rows of a join, and evaluates what the Agg
 * would have made of the counts; a Unique below it is removed.
 */
Plan *
gpusort_finish_count(Agg *agg)
{
	Counts		counts = {0};
	CustomScan *scan;
	List	   *columns;
	Plan	   *rows;

	/* Several empty grouping sets are a row each. */
	if (agg->aggstrategy != AGG_PLAIN || agg->groupingSets != NIL || agg->plan.qual != NIL ||
		(rows = rows_to_count(agg, &counts)) == NULL)
		return &agg->plan;
	columns = (List *) replace_counts((Node *) agg->plan.targetlist, &counts);
	if (counts.others || counts.columns == NIL)
		return &agg->plan;
	if (gpusort_is_readable_sort(rows))
		gpusort_let_tell_equal((CustomScan *) rows);
	scan = makeNode(CustomScan);
	scan->scan.plan = agg->plan;
	NodeSetTag(scan, T_CustomScan);
	scan->scan.plan.targetlist = columns;
	scan->scan.plan.lefttree = rows;
	scan->custom_scan_tlist = counts.columns;
	scan->custom_private = lappend(list_copy(counts.key), counts.values);
	scan->methods = gpusort_node_methods(GPUSORT_COUNT_NODE);
	return &scan->scan.plan;
}
