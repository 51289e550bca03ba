/*
 * plan_distinct_aggs.c
 *		Aggregates over distinct values: count(DISTINCT x).
 *
 * PostgreSQL sorts the values within the Agg node, group by group, in the leader.  Here the rows are
 * sorted below it, by the columns of GROUP BY and then by the values, so that equal values are
 * neighbours:
 *
 *		Agg: count(x)						Finalize Agg: count(x)
 *		  -> Unique							  -> Gather
 *		    -> GpuSort						    -> Partial Agg: count(x)
 *											      -> Unique
 *											        -> GpuSort Shared, sliced
 *
 * On the left, Unique is all that DISTINCT asks for, so it is taken out of the aggregates.  On the
 * right, slices cut no values apart that are equal, so what each participant counts adds up; groups
 * may be cut.
 *
 * Where some aggregates are not DISTINCT, they need all rows: there is no Unique, and the Partial Agg's
 * aggregates stay DISTINCT.  The planner knows no partial aggregates of that kind, so it is put back
 * when the plan is finished.
 *
 * In the planner's other nodes the aggregates are DISTINCT as the query has them, and they look for
 * these in what is below.  So there is a CustomScan on top that has the original target list, which
 * is taken away in the finished plan.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "cost/cost.h"
#include "pg_compat.h"
#include "plan/plan_distinct_aggs.h"
#include "plan/plan_node.h"
#include "plan/plan_shared.h"
#include "plan/plan_slices.h"
#include "plan/plan_sorted.h"

/* What a query's aggregates ask for. */
typedef struct DistinctAggs
{
	PlannerInfo *root;
	RelOptInfo *input_rel;
	RelOptInfo *grouped_rel;
	const GroupPathExtraData *extra;

	const Aggref *distinct;		/* one that is DISTINCT; all others want the same values */
	int			count;			/* how many are */
	bool		only_values;	/* they are all there is: other rows than the first of equal ones
								 * are not looked at */
	bool		unfiltered;		/* one that is DISTINCT has no FILTER */
	bool		in_parts;		/* what is computed of parts of the values can be combined */

	List	   *pathkeys;		/* GROUP BY's, and then the values' */
	int			group_columns;	/* how many are GROUP BY's */
	double		groups;
	double		values;			/* distinct ones, of all groups */

	PathTarget *target;			/* the grouped relation's, with plain aggregates */
	List	   *having;
} DistinctAggs;

/* ---------- whether ---------- */

/*
 * Is an aggregate's result the same whatever the order its values come in, and are combined in?
 * Of those that are ours to know; sums of floats are not.
 */
static bool
is_order_irrelevant(const Aggref *aggref)
{
	Oid			type = aggref->aggtranstype;

	return aggref->aggfnoid < FirstNormalObjectId &&
		aggref->aggfnoid != F_ARRAY_AGG_ANYNONARRAY && aggref->aggfnoid != F_ARRAY_AGG_ANYARRAY &&
		aggref->aggfnoid != F_STRING_AGG_TEXT_TEXT && aggref->aggfnoid != F_STRING_AGG_BYTEA_BYTEA &&
		type != FLOAT4OID && type != FLOAT8OID && type != FLOAT8ARRAYOID;
}

static bool
can_combine(const PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->aggtransinfos)
	{
		const AggTransInfo *transition = (const AggTransInfo *) lfirst(lc);

		if (!OidIsValid(transition->combinefn_oid) ||
			(transition->aggtranstype == INTERNALOID &&
			 (!OidIsValid(transition->serialfn_oid) || !OidIsValid(transition->deserialfn_oid))))
			return false;
	}
	return true;
}

/*
 * May what aggregates want be computed of rows that a FILTER keeps from them?  It may be there
 * to keep an expression from failing.
 */
static bool
are_columns(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *expr = (Node *) lfirst_node(TargetEntry, lc)->expr;

		while (IsA(expr, RelabelType) || IsA(expr, CollateExpr))
			expr = IsA(expr, RelabelType) ? (Node *) ((RelabelType *) expr)->arg
				: (Node *) ((CollateExpr *) expr)->arg;
		if (!IsA(expr, Var) && !IsA(expr, Const) && !IsA(expr, Param))
			return false;
	}
	return true;
}

/* Look at one aggregate; false if it cannot be had. */
static bool
read_aggregate(DistinctAggs *aggs, const Aggref *aggref)
{
	if (aggref->aggorder != NIL || aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup > 0)
		return false;
	aggs->in_parts &= is_order_irrelevant(aggref);
	aggs->only_values &= aggref->aggdistinct != NIL && aggref->aggfilter == NULL;
	if (aggref->aggdistinct == NIL)
		return true;
	aggs->count++;
	aggs->unfiltered |= aggref->aggfilter == NULL;
	if (aggs->distinct == NULL)
		aggs->distinct = aggref;
	return equal(aggref->args, aggs->distinct->args) &&
		equal(aggref->aggdistinct, aggs->distinct->aggdistinct);
}

static bool
read_aggregates(DistinctAggs *aggs)
{
	List	   *expressions = list_make2(aggs->grouped_rel->reltarget->exprs, aggs->having);
	ListCell   *lc;

	aggs->only_values = true;
	aggs->in_parts = can_combine(aggs->root);
	if (contain_volatile_functions((Node *) expressions) || contain_subplans((Node *) expressions))
		return false;
	foreach(lc, pull_var_clause((Node *) expressions, PVC_INCLUDE_AGGREGATES |
								PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
	{
		if (IsA(lfirst(lc), Aggref) && !read_aggregate(aggs, lfirst_node(Aggref, lc)))
			return false;
	}
	return aggs->distinct != NULL && (aggs->unfiltered || are_columns(aggs->distinct->args));
}

static bool
has_class(const List *pathkeys, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		if (lfirst_node(PathKey, lc)->pk_eclass == ec)
			return true;
	}
	return false;
}

static void
read_order(DistinctAggs *aggs)
{
	PlannerInfo *root = aggs->root;
	List	   *values = make_pathkeys_for_sortclauses(root, aggs->distinct->aggdistinct,
													  aggs->distinct->args);
	ListCell   *lc;

	aggs->pathkeys = list_truncate(list_copy(root->group_pathkeys),
								   gpusort_count_group_pathkeys(root));
	aggs->group_columns = list_length(aggs->pathkeys);
	foreach(lc, values)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);

		if (!has_class(aggs->pathkeys, pathkey->pk_eclass))
			aggs->pathkeys = lappend(aggs->pathkeys, pathkey);
	}
}

static void
estimate_groups(DistinctAggs *aggs)
{
	PlannerInfo *root = aggs->root;
	List	   *group_exprs = get_sortgrouplist_exprs(gpusort_group_clause(root),
													  root->processed_tlist);
	List	   *value_exprs = get_sortgrouplist_exprs(aggs->distinct->aggdistinct,
													  aggs->distinct->args);
	double		rows = clamp_row_est(aggs->input_rel->cheapest_total_path->rows);

	aggs->groups = group_exprs == NIL ? 1 :
		estimate_num_groups(root, group_exprs, rows, NULL, NULL);
	aggs->values = estimate_num_groups(root, list_concat(group_exprs, value_exprs), rows, NULL,
									   NULL);
}

/* ---------- targets ---------- */

static Node *
make_plain(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *plain = makeNode(Aggref);

		*plain = *(const Aggref *) node;
		plain->aggdistinct = NIL;
		gpusort_set_presorted(plain, false);
		return (Node *) plain;
	}
	return expression_tree_mutator(node, make_plain, context);
}

static void
make_target(DistinctAggs *aggs)
{
	aggs->target = copy_pathtarget(aggs->grouped_rel->reltarget);
	aggs->target->exprs = (List *) make_plain((Node *) aggs->target->exprs, NULL);
	aggs->having = (List *) make_plain((Node *) aggs->having, NULL);
}

/* What participants compute: GROUP BY's columns, and states of aggregates. */
static PathTarget *
make_partial_target(const DistinctAggs *aggs)
{
	PathTarget *target = create_empty_pathtarget();
	List	   *group_clause = aggs->root->parse->groupClause;
	List	   *rest = list_make1(aggs->having);
	ListCell   *lc;

	foreach(lc, aggs->target->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(aggs->target, foreach_current_index(lc));

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, group_clause) != NULL)
			add_column_to_pathtarget(target, lfirst(lc), ref);
		else
			rest = lappend(rest, lfirst(lc));
	}
	add_new_columns_to_pathtarget(target, pull_var_clause((Node *) rest, PVC_INCLUDE_AGGREGATES |
														  PVC_RECURSE_WINDOWFUNCS |
														  PVC_INCLUDE_PLACEHOLDERS));
	foreach(lc, target->exprs)
	{
		Aggref	   *aggref = (Aggref *) lfirst(lc);
		Aggref	   *partial;

		if (!IsA(aggref, Aggref))
			continue;
		partial = makeNode(Aggref);
		*partial = *aggref;
		mark_partial_aggref(partial, AGGSPLIT_INITIAL_SERIAL);
		lfirst(lc) = partial;
	}
	return set_pathtarget_cost_width(aggs->root, target);
}

/* ---------- plan ---------- */

/*
 * The columns stay as the query has them: both target lists say the same, column by column.  In
 * custom_private are the numbers of those aggregates of the Partial Agg that will be DISTINCT,
 * and of which columns.
 */
static Plan *
plan_aggregate_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
					List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.lefttree = linitial(custom_plans);
	scan->custom_scan_tlist = copyObject(tlist);
	scan->custom_private = best_path->custom_private;
	scan->methods = gpusort_node_methods(GPUSORT_AGGREGATE_NODE);
	return &scan->scan.plan;
}

static const CustomPathMethods aggregate_path_methods = {
	.CustomName = GPUSORT_AGGREGATE_NODE,
	.PlanCustomPath = plan_aggregate_path
};

/* The numbers of those that are DISTINCT. */
static List *
distinct_numbers(const DistinctAggs *aggs)
{
	List	   *numbers = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) list_make2(aggs->grouped_rel->reltarget->exprs,
													aggs->extra->havingQual),
								PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS |
								PVC_INCLUDE_PLACEHOLDERS))
	{
		const Aggref *aggref = (const Aggref *) lfirst(lc);

		if (IsA(aggref, Aggref) && aggref->aggdistinct != NIL)
			numbers = list_append_unique_int(numbers, aggref->aggno);
	}
	return numbers;
}

/* The path on top, which is for the planner only. */
static Path *
make_aggregate_path(const DistinctAggs *aggs, Path *agg, bool put_back)
{
	CustomPath *cpath = makeNode(CustomPath);

	cpath->path = *agg;
	NodeSetTag(cpath, T_CustomPath);
	cpath->path.pathtype = T_CustomScan;
	cpath->path.pathtarget = aggs->grouped_rel->reltarget;
	cpath->custom_paths = list_make1(agg);
	if (put_back)
		cpath->custom_private = list_make2(distinct_numbers(aggs),
										   copyObject(aggs->distinct->aggdistinct));
	cpath->methods = &aggregate_path_methods;
	return &cpath->path;
}

static bool
put_back_distinct(Node *node, void *context)
{
	const List *which = context;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = (Aggref *) node;

		if (list_member_int(linitial(which), aggref->aggno))
		{
			aggref->aggdistinct = copyObject(lsecond(which));
			gpusort_set_presorted(aggref, true);
		}
		return false;
	}
	return expression_tree_walker(node, put_back_distinct, context);
}

Plan *
gpusort_finish_distinct_aggs(CustomScan *scan)
{
	Plan	   *agg = scan->scan.plan.lefttree;

	if (scan->custom_private != NIL)
		put_back_distinct((Node *) agg->lefttree->lefttree->targetlist, scan->custom_private);
	gpusort_copy_labels(agg->targetlist, scan->scan.plan.targetlist);
	agg->initPlan = list_concat(agg->initPlan, scan->scan.plan.initPlan);
	agg->extParam = scan->scan.plan.extParam;
	agg->allParam = scan->scan.plan.allParam;
	return agg;
}

/* ---------- paths ---------- */

static AggStrategy
strategy(const DistinctAggs *aggs)
{
	return aggs->root->parse->groupClause != NIL ? AGG_SORTED : AGG_PLAIN;
}

static Path *
make_agg(const DistinctAggs *aggs, Path *input, AggSplit split, double groups)
{
	AggClauseCosts costs = {0};
	bool		partial = split == AGGSPLIT_INITIAL_SERIAL;

	get_agg_clause_costs(aggs->root, split, &costs);
	return (Path *) create_agg_path(aggs->root, aggs->grouped_rel, input,
									partial ? make_partial_target(aggs) : aggs->target,
									strategy(aggs), split, gpusort_group_clause(aggs->root),
									partial ? NIL : aggs->having, &costs, groups);
}

static Path *
make_unique(const DistinctAggs *aggs, Path *input, double values)
{
	return gpusort_make_unique_path(aggs->root, aggs->grouped_rel, input,
									list_length(aggs->pathkeys), clamp_row_est(values));
}

/* Of all rows, or of those that workers collect. */
static List *
make_whole_paths(const DistinctAggs *aggs)
{
	List	   *paths = gpusort_make_sorted_paths(aggs->root, aggs->input_rel, aggs->grouped_rel,
												  aggs->pathkeys, GPUSORT_NO_LIMIT);
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *unique = make_unique(aggs, lfirst(lc), aggs->values);

		lfirst(lc) = make_aggregate_path(aggs,
										 make_agg(aggs, unique, AGGSPLIT_SIMPLE, aggs->groups),
										 false);
	}
	return paths;
}

static bool
make_slices(const DistinctAggs *aggs, int columns, GpuSortSlices *slices)
{
	slices->root = aggs->root;
	slices->rel = aggs->grouped_rel;
	return gpusort_plans_shared() && aggs->grouped_rel->consider_parallel &&
		gpusort_make_slices(slices, aggs->input_rel, aggs->pathkeys, columns);
}

/* Of slices that cut no group. */
static Path *
make_whole_groups(const GpuSortSlices *slices, const void *original)
{
	const DistinctAggs *aggs = original;
	Path	   *unique = make_unique(aggs, slices->sort, aggs->values * slices->fraction);

	return make_aggregate_path(aggs, make_agg(aggs, unique, AGGSPLIT_SIMPLE,
											  Max(aggs->groups * slices->fraction, 1)), false);
}

static List *
make_group_paths(const DistinctAggs *aggs)
{
	GpuSortSlices slices;
	Cost		cost;

	if (!make_slices(aggs, aggs->group_columns, &slices))
		return NIL;
	return gpusort_offer_sliced(&slices, make_whole_groups, aggs, 0, &cost);
}

/* Of slices that cut groups, but no values. */
static List *
make_part_paths(const DistinctAggs *aggs)
{
	PlannerInfo *root = aggs->root;
	RelOptInfo *rel = aggs->grouped_rel;
	GpuSortSlices slices;
	Path	   *path;
	double		rows;

	if (!aggs->in_parts || !make_slices(aggs, list_length(aggs->pathkeys), &slices))
		return NIL;
	path = slices.sort;
	if (aggs->only_values)
		path = make_unique(aggs, path, aggs->values * slices.fraction);
	path = make_agg(aggs, path, AGGSPLIT_INITIAL_SERIAL,
					Min(aggs->groups, clamp_row_est(path->rows)));
	rows = path->rows / slices.fraction;
	if (aggs->group_columns > 0)
		path = (Path *) create_gather_merge_path(root, rel, path, path->pathtarget,
												 list_truncate(list_copy(aggs->pathkeys),
															   aggs->group_columns),
												 NULL, &rows);
	else
		path = (Path *) create_gather_path(root, rel, path, path->pathtarget, NULL, &rows);
	path = make_agg(aggs, path, AGGSPLIT_FINAL_DESERIAL, aggs->groups);
	return list_make1(make_aggregate_path(aggs, path, !aggs->only_values));
}

/* What the planner's own paths sort within aggregates, which it takes for free. */
static Cost
hidden_cost(const DistinctAggs *aggs)
{
	const Path *input = aggs->input_rel->cheapest_total_path;
	double		rows = clamp_row_est(input->rows / aggs->groups);

	if (gpusort_is_presorted(aggs->distinct))
		return 0;
	return aggs->groups * aggs->count *
		gpusort_core_sort_cost(aggs->root, aggs->pathkeys, rows, input->pathtarget->width);
}

void
gpusort_make_distinct_agg_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
								const GroupPathExtraData *extra, GpuSortDistinctAggPaths *paths)
{
	DistinctAggs aggs = {
		.root = root, .input_rel = input_rel, .grouped_rel = grouped_rel, .extra = extra,
		.having = (List *) extra->havingQual
	};

	memset(paths, 0, sizeof(*paths));
	if (root->numOrderedAggs == 0 || root->parse->groupingSets != NIL || !read_aggregates(&aggs))
		return;
	read_order(&aggs);
	if (aggs.pathkeys == NIL ||
		pathkeys_contained_in(aggs.pathkeys, input_rel->cheapest_total_path->pathkeys))
		return;
	estimate_groups(&aggs);
	make_target(&aggs);
	paths->lacking = hidden_cost(&aggs);
	if (aggs.only_values)
	{
		paths->whole = make_whole_paths(&aggs);
		paths->sliced = make_group_paths(&aggs);
	}
	paths->sliced = list_concat(paths->sliced, make_part_paths(&aggs));
}
