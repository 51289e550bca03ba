/*
 * plan_aggregate.c
 *		Agg nodes above rows that come in order; see plan_aggregate_private.h.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_aggregate_private.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "plan/plan_replace_private.h"

/* ---------- what is grouped ---------- */

void
gpusort_plan_order_groups(GpuSortGrouping *grouping, List *values)
{
	PlannerInfo *root = grouping->root;
	ListCell   *lc;

	grouping->pathkeys = list_truncate(list_copy(root->group_pathkeys),
									   gpusort_count_group_pathkeys(root));
	grouping->group_columns = list_length(grouping->pathkeys);
	foreach(lc, values)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);

		if (!gpusort_has_class(grouping->pathkeys, pathkey->pk_eclass))
			grouping->pathkeys = lappend(grouping->pathkeys, pathkey);
	}
}

void
gpusort_estimate_groups(GpuSortGrouping *grouping)
{
	PlannerInfo *root = grouping->root;
	List	   *exprs = get_sortgrouplist_exprs(gpusort_group_clause(root), root->processed_tlist);

	grouping->groups = exprs == NIL ? 1 :
		estimate_num_groups(root, exprs,
							clamp_row_est(grouping->input_rel->cheapest_total_path->rows), NULL,
							NULL);
}

/* Returns all that is computed above the groups. */
static List *
expressions(const GpuSortGrouping *grouping)
{
	return list_make2(grouping->grouped_rel->reltarget->exprs, grouping->extra->havingQual);
}

List *
gpusort_aggregates(const GpuSortGrouping *grouping)
{
	List	   *aggregates = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) expressions(grouping), PVC_INCLUDE_AGGREGATES |
								PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
	{
		if (IsA(lfirst(lc), Aggref))
			aggregates = lappend(aggregates, lfirst(lc));
	}
	return aggregates;
}

bool
gpusort_can_sort_below(const GpuSortGrouping *grouping)
{
	Node	   *all = (Node *) expressions(grouping);

	return !contain_volatile_functions(all) && !contain_subplans(all);
}

bool
gpusort_are_columns(const List *args)
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

/*
 * Returns whether the values come in order, as in a table that was loaded in this order.
 * PostgreSQL's sort notices that.
 */
static bool
is_in_order(const GpuSortGrouping *grouping)
{
	const Path *input = grouping->input_rel->cheapest_total_path;
	GpuSortPathKeys keys;
	const char *reason;

	return grouping->group_columns == 0 &&
		gpusort_read_pathkeys(input, grouping->pathkeys, &keys, &reason) &&
		gpusort_path_is_in_order(grouping->root, input, &keys);
}

Cost
gpusort_inner_sort_cost(const GpuSortGrouping *grouping)
{
	const Path *input = grouping->input_rel->cheapest_total_path;
	double		rows = clamp_row_est(input->rows / grouping->groups);

	if (is_in_order(grouping))
		return input->rows * GPUSORT_INNER_ORDER_COST;
	return gpusort_core_sort_cost(grouping->root, grouping->pathkeys, rows,
								  input->pathtarget->width) * grouping->groups;
}

bool
gpusort_grouping_might_be_kept(const GpuSortGrouping *grouping, Cost lacking)
{
	GpuSortGroupedRows grouped = *grouping->grouped;

	grouped.order = grouping->pathkeys;
	grouped.row_cost = 0;
	return gpusort_plan_groups_might_be_kept(&grouped, grouping->input_rel, lacking);
}

/* ---------- paths ---------- */

Path *
gpusort_make_agg_path(const GpuSortGrouping *grouping, Path *input, AggSplit split,
					  PathTarget *target, double groups)
{
	PlannerInfo *root = grouping->root;
	bool		partial = split == AGGSPLIT_INITIAL_SERIAL;
	AggClauseCosts costs = {0};

	get_agg_clause_costs(root, split, &costs);
	return (Path *) create_agg_path(root, grouping->grouped_rel, input, target,
									root->parse->groupClause != NIL ? AGG_SORTED : AGG_PLAIN,
									split, gpusort_group_clause(root),
									partial ? NIL : grouping->having, &costs, groups);
}

/* The columns stay as the query has them: both target lists mean the same, column by column. */
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

Path *
gpusort_make_aggregate_path(const GpuSortGrouping *grouping, Path *agg, List *numbers,
							List *distinct)
{
	CustomPath *cpath = makeNode(CustomPath);

	cpath->path = *agg;
	NodeSetTag(cpath, T_CustomPath);
	cpath->path.pathtype = T_CustomScan;
	cpath->path.pathtarget = grouping->grouped_rel->reltarget;
	cpath->custom_paths = list_make1(agg);
	if (numbers != NIL)
		cpath->custom_private = list_make2(numbers, copyObject(distinct));
	cpath->methods = &aggregate_path_methods;
	return &cpath->path;
}

/* ---------- finished plans ---------- */

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
gpusort_finish_aggregate(CustomScan *scan)
{
	Plan	   *agg = scan->scan.plan.lefttree;

	if (scan->custom_private != NIL)
		put_back_distinct((Node *) agg->lefttree->lefttree->targetlist, scan->custom_private);
	gpusort_plan_copy_labels(agg->targetlist, scan->scan.plan.targetlist);
	agg->initPlan = list_concat(agg->initPlan, scan->scan.plan.initPlan);
	agg->extParam = scan->scan.plan.extParam;
	agg->allParam = scan->scan.plan.allParam;
	return agg;
}
