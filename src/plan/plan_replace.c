/*
 * plan_replace.c
 *		Taking over the Sort nodes of a finished plan.
 *
 * The planner puts sorts below merge joins, window functions, grouping, set
 * operations, in subplans and below Gather Merge without offering a choice.  When
 * a plan is finished, every Sort node in it whose key can be encoded and whose
 * estimate says that it pays becomes a GpuSort node in place: node id, child,
 * parameters and initplans stay what they are.
 *
 * A limit is passed down through the same nodes through which the executor
 * tells a Sort its bound (ExecSetTupleBound), and we a GpuSort (exec/exec_bound.c), but for
 * those in workers: there the bounded Sort stays for few rows.
 *
 * Where workers read the input of such a Sort, they may collect its rows for a single
 * GpuSort instead (plan_replace_gathered.c).
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

#include "plan/plan_collect.h"
#include "plan/plan_estimate.h"
#include "plan/plan_late.h"
#include "plan/plan_replace.h"
#include "plan/plan_replace_gathered.h"
#include "settings.h"

static const GpuSortLimit no_limit = {GPUSORT_NO_LIMIT, false};

static Plan *replace_in_plan(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement);

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
		return GPUSORT_NO_LIMIT;
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
				return GPUSORT_NO_LIMIT;	/* LIMIT NULL */
			continue;
		}
		rows += (double) DatumGetInt64(value->constvalue);
	}
	return rows;
}

static Plan *
leave_sort(Sort *sort, const char *reason)
{
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves a sort of %.0f estimated rows to PostgreSQL: %s",
							 sort->plan.plan_rows, reason)));
	return &sort->plan;
}

/* Take a Sort node over, or leave it. */
static Plan *
replace_sort(Sort *sort, GpuSortLimit limit, GpuSortStatement *statement)
{
	const char *reason;
	GpuSortEstimate estimate;
	CustomScan *scan;

	if (!statement->take_over)
		return &sort->plan;
	if (!gpusort_enable_order_by)
		return leave_sort(sort, "gpusort.enable_order_by is off");
	reason = gpusort_reason_to_leave(sort, limit, statement->stmt, &estimate);
	if (reason != NULL)
		return leave_sort(sort, reason);
	if (!gpusort_force && gpusort_cost_until(&estimate, sort->plan.plan_rows, limit.rows) >
		gpusort_core_cost(sort, &estimate, statement->stmt->rtable))
		return leave_sort(sort, "estimated to cost more than PostgreSQL's sort");

	scan = gpusort_make_node(GPUSORT_NODE, sort, GPUSORT_NODE_FLAGS);
	gpusort_reference_child(scan);
	if (estimate.late_width > 0)
		gpusort_make_late(scan, estimate.late_width);
	return &scan->scan.plan;
}

/* Finish the plan of an ORDER BY path. */
static Plan *
finish_path(CustomScan *scan, GpuSortLimit limit, GpuSortStatement *statement)
{
	Gather	   *gather = gpusort_find_gather(scan);
	Sort	   *sort;
	GpuSortEstimate estimate;
	const char *reason;

	if (gather != NULL)
		gpusort_reference_gathered(gather);
	gpusort_reference_child(scan);

	sort = gpusort_make_sort(scan);
	reason = gpusort_reason_to_leave(sort, limit, statement->stmt, &estimate);

	/*
	 * The path has been compared by cost, but without a limit outside its query.  If that is not
	 * known, there is no Gather Merge: it may want more rows of it when it is rescanned, where
	 * workers keep to what it wanted first (exec/worker_bound.c).
	 */
	if (limit.rows >= 0 && reason != NULL && (gather == NULL || limit.rows > 0))
	{
		leave_sort(sort, reason);
		return gather != NULL ? gpusort_make_gather_merge(scan) : &sort->plan;
	}
	if (estimate.late_width > 0)
		gpusort_make_late(scan, estimate.late_width);
	return &scan->scan.plan;
}

static void
replace_in_list(List *plans, GpuSortLimit limit, GpuSortStatement *statement)
{
	ListCell   *lc;

	foreach(lc, plans)
		lfirst(lc) = replace_in_plan((Plan *) lfirst(lc), limit, statement);
}

/* Replace below a node, and the node itself if it is a Sort. */
static Plan *
replace_in_plan(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	GpuSortLimit child_limit = no_limit;

	if (plan == NULL)
		return NULL;
	check_stack_depth();

	plan = gpusort_replace_gathered(plan, limit, statement);
	switch (nodeTag(plan))
	{
		case T_Limit:
			child_limit = (GpuSortLimit) {rows_of_limit((Limit *) plan), true};
			break;
		case T_Append:
			replace_in_list(((Append *) plan)->appendplans, limit, statement);
			break;
		case T_MergeAppend:
			replace_in_list(((MergeAppend *) plan)->mergeplans, limit, statement);
			break;
		case T_SubqueryScan:
			((SubqueryScan *) plan)->subplan =
				replace_in_plan(((SubqueryScan *) plan)->subplan,
								plan->qual == NIL ? limit : no_limit, statement);
			break;
		case T_Result:
			child_limit = limit;
			break;
		case T_Gather:
		case T_GatherMerge:
			/* the server tells workers of the limit, but only PostgreSQL's nodes */
			child_limit = (GpuSortLimit) {limit.rows, false};
			break;
		default:
			break;
	}

	plan->lefttree = replace_in_plan(plan->lefttree, child_limit, statement);
	plan->righttree = replace_in_plan(plan->righttree, no_limit, statement);
	if (gpusort_is_node(plan, GPUSORT_NODE))
		return finish_path((CustomScan *) plan, limit, statement);
	if (gpusort_is_node(plan, GPUSORT_COLLECT_NODE) || gpusort_is_node(plan, GPUSORT_SHARED_NODE))
		gpusort_reference_child((CustomScan *) plan);
	return IsA(plan, Sort) ? replace_sort((Sort *) plan, limit, statement) : plan;
}

void
gpusort_replace_sorts(PlannedStmt *stmt, bool take_over)
{
	GpuSortStatement statement = {.stmt = stmt, .take_over = take_over};

	stmt->planTree = replace_in_plan(stmt->planTree, no_limit, &statement);
	replace_in_list(stmt->subplans, no_limit, &statement);
}
