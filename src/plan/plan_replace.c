/*
 * plan_replace.c
 *		Taking over the Sort nodes of a finished plan.
 *
 * The planner puts sorts below merge joins, window functions, grouping, set
 * operations, in subplans and below Gather Merge without asking anybody.  When
 * a plan is finished, every Sort node in it whose key can be encoded and whose
 * estimate says that it pays becomes a GpuSort node in place: node id, child,
 * parameters and initplans stay what they are.
 *
 * A limit is passed down through the same nodes through which the executor
 * tells a Sort its bound (ExecSetTupleBound), since a GpuSort is told none: for
 * few rows the bounded Sort stays.
 *
 * Where workers read the input of such a Sort, they may collect its rows for a single
 * GpuSort instead (plan_collect.c).
 *
 * The ORDER BY paths that the planner has chosen are brought into their final
 * form here as well, also if gpusort has been switched off since; those of a
 * subquery that turns out to stand below a limit become Sorts again.
 *
 * Plans inside other extensions' custom scans are not touched: the extension may
 * expect to find a Sort there.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"

#include "pg_compat.h"
#include "plan/plan_late.h"
#include "plan/plan_shared.h"
#include "settings.h"

static planner_hook_type previous_planner_hook = NULL;

/* No limit, as gpusort_worth_it() has it. */
#define NO_LIMIT (-1.0)

static Plan *replace_in_plan(Plan *plan, double limit_rows, GpuSortStatement *statement);

/*
 * Rows that a Limit node will ask for at most; 0 if only execution will tell.
 * WITH TIES has to look for the end of the ties, so it does not bound a Sort.
 */
static double
rows_of_limit(const Limit *limit)
{
	double		rows = 0;
	const Node *parts[] = {limit->limitCount, limit->limitOffset};

	if (limit->limitCount == NULL || limit->limitOption == LIMIT_OPTION_WITH_TIES)
		return NO_LIMIT;
	for (int i = 0; i < lengthof(parts); i++)
	{
		const Const *value = (const Const *) parts[i];

		if (value == NULL)
			continue;
		if (!IsA(value, Const))
			return 0;
		if (value->constisnull)
		{
			if (i == 0)
				return NO_LIMIT;	/* LIMIT NULL */
			continue;
		}
		rows += (double) DatumGetInt64(value->constvalue);
	}
	return rows;
}

/* The estimate, of the whole rows or of narrow ones to be fetched, whichever is better. */
static bool
estimate_sort(const Sort *sort, double limit_rows, const PlannedStmt *stmt,
			  GpuSortEstimate *estimate, const char **reason)
{
	const Plan *child = sort->plan.lefttree;
	double		rows = sort->plan.plan_rows;
	Oid		   *types = palloc(sort->numCols * sizeof(Oid));
	GpuSortCostKeys keys = {sort->numCols, sort->sortOperators, types, sort->collations};
	GpuSortFetch fetch;
	GpuSortEstimate narrow;

	for (int i = 0; i < sort->numCols; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, child->targetlist,
										 sort->sortColIdx[i] - 1);

		types[i] = exprType((Node *) tle->expr);
	}
	if (!gpusort_estimate(&keys, rows, child->plan_width, estimate, reason))
		return false;
	if (gpusort_plan_can_fetch(sort, stmt, &fetch) &&
		gpusort_estimate(&keys, rows, fetch.width, &narrow, reason))
		gpusort_choose_late(&fetch, rows, limit_rows, &narrow, estimate);
	return true;
}

const char *
gpusort_reason_to_leave(const Sort *sort, double limit_rows, const PlannedStmt *stmt,
						GpuSortEstimate *estimate)
{
	const char *reason = NULL;

	if (!estimate_sort(sort, limit_rows, stmt, estimate, &reason) ||
		!gpusort_worth_it(sort->plan.plan_rows, sort->plan.lefttree->plan_width, limit_rows,
						  estimate, &reason))
		return reason;
	return NULL;
}

static Plan *
leave_sort(Sort *sort, const char *reason)
{
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves a sort of %.0f estimated rows to PostgreSQL: %s",
							 sort->plan.plan_rows, reason)));
	return &sort->plan;
}

/* The planner's estimate, and what we know better. */
Cost
gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate, const List *rtable)
{
	if (gpusort_input_is_sorted(sort, rtable))
		return estimate->core_sorted_cost;
	return sort->plan.total_cost - sort->plan.lefttree->total_cost + estimate->core_extra_cost;
}

/* Take a Sort node over, or leave it. */
static Plan *
replace_sort(Sort *sort, double limit_rows, GpuSortStatement *statement)
{
	const char *reason;
	GpuSortEstimate estimate;
	CustomScan *scan;

	if (!gpusort_enabled)
		return &sort->plan;
	if (!gpusort_enable_order_by)
		return leave_sort(sort, "gpusort.enable_order_by is off");
	reason = gpusort_reason_to_leave(sort, limit_rows, statement->stmt, &estimate);
	if (reason != NULL)
		return leave_sort(sort, reason);
	if (!gpusort_force && gpusort_cost_until(&estimate, sort->plan.plan_rows, limit_rows) >
		gpusort_core_cost(sort, &estimate, statement->stmt->rtable))
		return leave_sort(sort, "estimated to cost more than PostgreSQL's sort");

	scan = gpusort_make_plan(sort);
	gpusort_reference_child(scan);
	if (estimate.late_width > 0)
		gpusort_make_late(scan, estimate.late_width);
	return &scan->scan.plan;
}

/* Finish the plan of an ORDER BY path. */
static Plan *
finish_path(CustomScan *scan, double limit_rows, GpuSortStatement *statement)
{
	Gather	   *gather = gpusort_plan_gather(scan);
	Sort	   *sort;
	GpuSortEstimate estimate;
	const char *reason;

	if (gather != NULL)
		gpusort_reference_gathered(gather);
	gpusort_reference_child(scan);

	sort = gpusort_make_sort(scan);
	reason = gpusort_reason_to_leave(sort, limit_rows, statement->stmt, &estimate);

	/* the path has been compared by cost, but without a limit outside its query */
	if (limit_rows >= 0 && reason != NULL)
	{
		leave_sort(sort, reason);
		return gather != NULL ? gpusort_make_gather_merge(scan) : &sort->plan;
	}
	if (estimate.late_width > 0)
		gpusort_make_late(scan, estimate.late_width);
	return &scan->scan.plan;
}

static void
replace_in_list(List *plans, double limit_rows, GpuSortStatement *statement)
{
	ListCell   *lc;

	foreach(lc, plans)
		lfirst(lc) = replace_in_plan((Plan *) lfirst(lc), limit_rows, statement);
}

/* Replace below a node, and the node itself if it is a Sort. */
static Plan *
replace_in_plan(Plan *plan, double limit_rows, GpuSortStatement *statement)
{
	double		child_limit = NO_LIMIT;

	if (plan == NULL)
		return NULL;
	check_stack_depth();

	plan = gpusort_collect_sort(plan, limit_rows, statement);
	switch (nodeTag(plan))
	{
		case T_Limit:
			child_limit = rows_of_limit((Limit *) plan);
			break;
		case T_Append:
			replace_in_list(((Append *) plan)->appendplans, limit_rows, statement);
			break;
		case T_MergeAppend:
			replace_in_list(((MergeAppend *) plan)->mergeplans, limit_rows, statement);
			break;
		case T_SubqueryScan:
			((SubqueryScan *) plan)->subplan =
				replace_in_plan(((SubqueryScan *) plan)->subplan,
								plan->qual == NIL ? limit_rows : NO_LIMIT, statement);
			break;
		case T_Result:
		case T_Gather:
		case T_GatherMerge:
			child_limit = limit_rows;
			break;
		default:
			break;
	}

	plan->lefttree = replace_in_plan(plan->lefttree, child_limit, statement);
	plan->righttree = replace_in_plan(plan->righttree, NO_LIMIT, statement);
	if (gpusort_is_our_plan(plan))
		return finish_path((CustomScan *) plan, limit_rows, statement);
	if (gpusort_is_collect_plan(plan) || gpusort_is_shared_plan(plan))
		gpusort_reference_child((CustomScan *) plan);
	return IsA(plan, Sort) ? replace_sort((Sort *) plan, limit_rows, statement) : plan;
}

static PlannedStmt *
plan_and_replace(Query *parse, const char *query_string, int cursor_options,
				 ParamListInfo bound_params)
{
	PlannedStmt *stmt;
	GpuSortStatement statement;

	if (previous_planner_hook)
		stmt = previous_planner_hook(parse, query_string, cursor_options, bound_params);
	else
		stmt = standard_planner(parse, query_string, cursor_options, bound_params);

	statement = (GpuSortStatement) {.stmt = stmt};
	stmt->planTree = replace_in_plan(stmt->planTree, NO_LIMIT, &statement);
	replace_in_list(stmt->subplans, NO_LIMIT, &statement);
	return stmt;
}

void
gpusort_install_replace_hook(void)
{
	previous_planner_hook = planner_hook;
	planner_hook = plan_and_replace;
}
