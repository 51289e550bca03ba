/*
 * plan_replace.c
 *		Taking over the Sort nodes of a finished plan.
 *
 * The planner puts sorts below merge joins, window functions, grouping, set operations, in subplans
 * and below Gather Merge without offering a choice.  When a plan is finished, every Sort node in it
 * whose key can be encoded, and that is worth it by its estimate, becomes a GpuSort node in place:
 * node id, child, parameters and initplans stay what they are.
 *
 * Before that, a MergeAppend above sorts becomes one sort above an Append (plan_merge_append.c).
 *
 * A limit is passed down through the same nodes through which the executor tells a Sort its bound
 * (ExecSetTupleBound), and we a GpuSort (exec/exec_query.c).  The exception is nodes in workers,
 * where PostgreSQL's bounded Sort is kept for few rows.
 *
 * If workers read the input of such a Sort, they may collect its rows for a single GpuSort instead
 * (plan_replace_gathered.c).
 *
 * The ORDER BY paths that the planner has chosen are brought into their final form here as well,
 * even if gpusort has been switched off since.  A path of a subquery that turns out to stand below
 * a limit may become a Sort again.
 *
 * Below other extensions' custom scans, only our own nodes are finished: the extension may expect
 * to find a Sort there.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "plan/plan.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_replace_private.h"
#include "settings.h"

static const GpuSortLimit no_limit = {.rows = GPUSORT_NO_LIMIT};

static Plan *replace_in_plan(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement);

/*
 * Returns how many rows a Limit node will ask for at most, or 0 if only execution will tell.  WITH
 * TIES has to look for the end of the ties, so it does not bound a Sort.
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

static void
add_look(GpuSortStatement *statement, GpuSortLook *look)
{
	statement->looks = lappend(statement->looks, look);
}

/*
 * Returns why a node is left to PostgreSQL.  reason is what was found by the settings as they are
 * now, or NULL if they give none.
 */
static const char *
why_left(const GpuSortStatement *statement, const char *reason)
{
	if (statement->left_alone != NULL)
		return statement->left_alone;
	return reason != NULL ? reason : "gpusort was off when the plan was made";
}

static Plan *
leave_sort(Sort *sort, const char *reason)
{
	gpusort_tell_left(sort, NULL, reason);
	return &sort->plan;
}

/* Returns why a Sort is left to PostgreSQL whatever PostgreSQL's sort costs, or NULL. */
static const char *
reason_to_leave(const Sort *sort, GpuSortLimit limit, GpuSortStatement *statement,
				GpuSortEstimate *estimate)
{
	if (!gpusort_enable_order_by)
		return "gpusort.enable_order_by is off";
	return gpusort_reason_to_leave(sort, limit, statement->stmt, estimate);
}

/* Makes a GpuSort in the place of a Sort. */
static Plan *
take_over_sort(const Sort *sort, const GpuSortEstimate *estimate)
{
	CustomScan *scan = gpusort_make_node(GPUSORT_NODE, sort, GPUSORT_NODE_FLAGS);

	gpusort_reference_child(scan);
	if (estimate->late_width > 0)
		gpusort_make_late(scan, estimate->late_width);
	return &scan->scan.plan;
}

/*
 * Returns why a Sort is left to PostgreSQL, or NULL; *estimate is as in gpusort_reason_to_leave().
 */
static const char *
judge_sort(const Sort *sort, GpuSortLimit limit, GpuSortStatement *statement,
		   GpuSortEstimate *estimate)
{
	const char *reason = reason_to_leave(sort, limit, statement, estimate);

	if (reason == NULL && !gpusort_force &&
		gpusort_cost_until(estimate, sort->plan.plan_rows, limit.rows) >
		gpusort_core_cost(sort, estimate, statement->stmt->rtable))
		reason = "estimated to cost more than PostgreSQL's sort";
	return reason;
}

/*
 * Returns the same for an IncrementalSort.  We would sort all of its rows before the first is
 * returned.  Its groups are small, as a rule, so that the planner's estimate of comparing their
 * rows is good enough.
 */
static const char *
judge_incremental_sort(const Sort *sort, GpuSortLimit limit, GpuSortStatement *statement,
					   GpuSortEstimate *estimate)
{
	const Plan *plan = &sort->plan;
	const char *reason = reason_to_leave(sort, limit, statement, estimate);

	if (reason == NULL && !limit.all_read)
		reason = "not all rows may be wanted";
	if (reason == NULL && !gpusort_force && estimate->startup_cost + estimate->run_cost >
		plan->total_cost - plan->lefttree->total_cost)
		reason = "estimated to cost more than sorting group by group";
	return reason;
}

/*
 * Returns whether a sort is left for its few rows, and nobody wants to know why.  Most sorts are in
 * short queries, whose planning an estimate would make a percent longer.
 */
static bool
is_left_untold(const Plan *plan, const GpuSortStatement *statement)
{
	return plan->plan_rows < gpusort_min_rows && !gpusort_force && !statement->looks_only &&
		!message_level_is_interesting(DEBUG1);
}

/* Takes over a Sort or IncrementalSort node, or leaves it to PostgreSQL. */
static Plan *
replace_sort(Sort *left, GpuSortLimit limit, GpuSortStatement *statement)
{
	Sort		sort = *left;
	GpuSortEstimate estimate = {0};
	const char *reason;

	if ((!statement->take_over && !statement->looks_only) ||
		is_left_untold(&left->plan, statement))
		return &left->plan;
	NodeSetTag(&sort, T_Sort);
	reason = IsA(left, IncrementalSort)
		? judge_incremental_sort(&sort, limit, statement, &estimate)
		: judge_sort(&sort, limit, statement, &estimate);
	if (statement->looks_only)
	{
		add_look(statement, gpusort_look_at_left(left, limit, statement->stmt,
												 why_left(statement, reason),
												 estimate.memory_bytes > 0 ? &estimate : NULL));
		return &left->plan;
	}
	return reason != NULL ? leave_sort(left, reason) : take_over_sort(&sort, &estimate);
}

/*
 * Returns what a MergeAppend becomes: a Sort above an Append, which the caller is to replace, or
 * the MergeAppend itself.
 */
static Plan *
replace_merge(MergeAppend *merge, GpuSortLimit limit, GpuSortStatement *statement)
{
	const char *reason = NULL;
	Sort	   *sort;

	if ((!statement->take_over && !statement->looks_only) ||
		is_left_untold(&merge->plan, statement))
		return &merge->plan;
	sort = gpusort_plan_sort_instead_of_merging(merge, limit, statement->stmt, &reason);
	if (statement->looks_only)
		add_look(statement, gpusort_look_at_plan(&merge->plan, gpusort_plan_sort_of_merge(merge),
												 limit.kind, why_left(statement, reason)));
	else if (sort != NULL)
		return &sort->plan;
	else
		gpusort_tell_left(gpusort_plan_sort_of_merge(merge), "a merge", reason);
	return &merge->plan;
}

/* Brings the plan of an ORDER BY path into its final form. */
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
	 * The path has been compared by cost, but without a limit that stands outside its query, so the
	 * sort may be left to PostgreSQL after all.  But a sort above a Gather is kept if the limit's
	 * value is not known: a Gather Merge may want more rows when it is rescanned, and workers keep
	 * to what it wanted first (exec/exec_query.c).
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

/*
 * Returns what a sort below a node is for, given what a sort in the node's own place would be for.
 * Nodes that need order determine it, and nodes that keep order pass it on.  Below all other nodes
 * are sorts of subqueries.
 */
static GpuSortKind
kind_below(const Plan *plan, GpuSortKind kind)
{
	switch (nodeTag(plan))
	{
		case T_Agg:
			/* A plain Agg above a sort of ours has its values sorted, too. */
			if (((const Agg *) plan)->aggstrategy != AGG_SORTED &&
				((const Agg *) plan)->aggstrategy != AGG_MIXED && kind != GPUSORT_KIND_GROUP)
				return GPUSORT_KIND_ORDER_BY;
			return GPUSORT_KIND_GROUP;
		case T_Group:
			return GPUSORT_KIND_GROUP;
		case T_Unique:
			return GPUSORT_KIND_DISTINCT;
		case T_WindowAgg:
			return GPUSORT_KIND_WINDOW;
		case T_MergeJoin:
			return GPUSORT_KIND_JOIN;
		case T_SetOp:
			return GPUSORT_KIND_SET_OPERATION;
		case T_Append:
		case T_MergeAppend:
		case T_Gather:
		case T_GatherMerge:
		case T_IncrementalSort:
		case T_Limit:
		case T_LockRows:
		case T_Material:
		case T_ProjectSet:
		case T_Result:
			return kind;
		case T_CustomScan:
			/*
			 * A join is called by another name once it is finished, when the plan is only looked
			 * at.
			 */
			if (gpusort_is_node(plan, GPUSORT_UNFINISHED_JOIN_NODE) ||
				gpusort_is_node(plan, GPUSORT_JOIN_NODE))
				return GPUSORT_KIND_JOIN;
			if (gpusort_is_node(plan, GPUSORT_UNIQUE_NODE) ||
				gpusort_is_node(plan, GPUSORT_COUNT_NODE))
				return GPUSORT_KIND_DISTINCT;
			return gpusort_is_node(plan, GPUSORT_AGGREGATE_NODE) ||
				gpusort_is_node(plan, GPUSORT_ORDERED_SET_NODE) ? GPUSORT_KIND_GROUP : kind;
		default:
			return GPUSORT_KIND_ORDER_BY;
	}
}

/* Notes what a finished node of ours is for. */
static Plan *
note_kind(Plan *plan, GpuSortKind kind, GpuSortStatement *statement)
{
	if (gpusort_is_node(plan, GPUSORT_NODE) || gpusort_is_node(plan, GPUSORT_COLLECT_NODE) ||
		gpusort_is_node(plan, GPUSORT_SHARED_NODE))
	{
		gpusort_set_kind((CustomScan *) plan, kind);
		statement->has_ours = true;
	}
	return plan;
}

static void
replace_in_list(List *plans, GpuSortLimit limit, GpuSortStatement *statement)
{
	ListCell   *lc;

	foreach(lc, plans)
		lfirst(lc) = replace_in_plan((Plan *) lfirst(lc), limit, statement);
}

/* Finishes our nodes below another extension's. */
static void
finish_in_list(List *plans, GpuSortStatement *statement)
{
	bool		take_over = statement->take_over;
	const char *left_alone = statement->left_alone;

	statement->take_over = false;
	statement->left_alone = "the sort stands inside another extension's custom scan";
	replace_in_list(plans, no_limit, statement);
	statement->take_over = take_over;
	statement->left_alone = left_alone;
}

/*
 * Returns whether all rows of the outer child are read.  Some nodes do that before they return the
 * first row.
 */
static bool
reads_all(const Plan *plan, GpuSortLimit limit)
{
	AggStrategy strategy;

	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_Hash:
			return true;
		case T_Agg:
			strategy = ((const Agg *) plan)->aggstrategy;
			return strategy == AGG_PLAIN || strategy == AGG_HASHED || limit.all_read;
		case T_MergeJoin:
			return false;
		default:
			return limit.all_read || gpusort_is_node(plan, GPUSORT_NODE);
	}
}

/* Looks at sorts that are no Sort nodes. */
static void
look_at_node(const Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	const char *reason;
	Sort	   *sort;
	ListCell   *lc;

	if (gpusort_is_node(plan, GPUSORT_NODE) || gpusort_is_node(plan, GPUSORT_SHARED_NODE))
		add_look(statement,
				 gpusort_look_at_node((const CustomScan *) plan, limit, statement->stmt));
	reason = gpusort_reason_for_hashing(plan, statement->stmt, &sort);
	if (reason != NULL)
		add_look(statement, gpusort_look_at_hashing(plan, sort, why_left(statement, reason)));
	if (!IsA(plan, Agg))
		return;
	foreach(lc, gpusort_reasons_inside((const Agg *) plan))
		add_look(statement, gpusort_look_at_plan(plan, NULL, GPUSORT_KIND_GROUP, lfirst(lc)));
}

/* Returns an Agg of a finished plan, or the node of ours that takes its place. */
static Plan *
finish_agg(Agg *agg, const GpuSortStatement *statement)
{
	Plan	   *plan = gpusort_finish_count(agg);

	if (plan == &agg->plan)
		plan = gpusort_finish_ordered_set(agg);
	if (plan == &agg->plan)
	{
		gpusort_tell_left_inside(agg);
		gpusort_tell_hashed(plan, statement->stmt);
	}
	return plan;
}

/*
 * Finishes a node whose children are finished, and returns it or what takes its place.  That is
 * only another node if the node is one of ours, or sorts.
 */
static Plan *
finish_node(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	if (statement->looks_only && !IsA(plan, Sort) && !IsA(plan, IncrementalSort))
	{
		look_at_node(plan, limit, statement);
		return plan;
	}
	if (gpusort_is_node(plan, GPUSORT_NODE))
		return finish_path((CustomScan *) plan, limit, statement);
	if (gpusort_is_node(plan, GPUSORT_AGGREGATE_NODE))
		return gpusort_finish_aggregate((CustomScan *) plan);
	if (gpusort_is_node(plan, GPUSORT_UNFINISHED_JOIN_NODE))
		return gpusort_finish_join((CustomScan *) plan);
	if (gpusort_is_node(plan, GPUSORT_COLLECT_NODE) || gpusort_is_node(plan, GPUSORT_SHARED_NODE))
		gpusort_reference_child((CustomScan *) plan);
	switch (nodeTag(plan))
	{
		case T_Sort:
		case T_IncrementalSort:
			return replace_sort((Sort *) plan, limit, statement);
		case T_Unique:
			return statement->take_over ? gpusort_finish_unique((Unique *) plan) : plan;
		case T_Agg:
			if (!statement->take_over)
				return plan;
			return finish_agg((Agg *) plan, statement);
		case T_HashJoin:
		case T_SetOp:
		case T_RecursiveUnion:
			if (statement->take_over)
				gpusort_tell_hashed(plan, statement->stmt);
			return plan;
		default:
			return plan;
	}
}

/* Replaces the Sorts below a node, and the node itself if it is one. */
static Plan *
replace_in_plan(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	GpuSortLimit child_limit = no_limit;
	GpuSortLimit right_limit = no_limit;

	if (plan == NULL)
		return NULL;
	check_stack_depth();

	if (IsA(plan, MergeAppend))
		plan = replace_merge((MergeAppend *) plan, limit, statement);
	else if (IsA(plan, GatherMerge) && IsA(plan->lefttree, MergeAppend))
		plan->lefttree = replace_merge((MergeAppend *) plan->lefttree, limit, statement);
	plan = gpusort_replace_gathered(plan, limit, statement);
	child_limit.all_read = reads_all(plan, limit);
	switch (nodeTag(plan))
	{
		case T_Limit:
			child_limit = (GpuSortLimit) {rows_of_limit((Limit *) plan), true, false};
			break;
		case T_Append:
			replace_in_list(((Append *) plan)->appendplans, limit, statement);
			break;
		case T_MergeAppend:
			replace_in_list(((MergeAppend *) plan)->mergeplans, limit, statement);
			break;
		case T_SubqueryScan:
			limit.kind = child_limit.kind = GPUSORT_KIND_ORDER_BY;
			((SubqueryScan *) plan)->subplan =
				replace_in_plan(((SubqueryScan *) plan)->subplan,
								plan->qual == NIL ? limit : child_limit, statement);
			break;
		case T_Result:
			child_limit = limit;
			break;
		case T_CustomScan:
			finish_in_list(((CustomScan *) plan)->custom_plans, statement);
			break;
		case T_Gather:
		case T_GatherMerge:
			/* The server tells workers of the limit, but only for PostgreSQL's nodes. */
			child_limit.rows = limit.rows;
			break;
		default:
			break;
	}

	child_limit.kind = right_limit.kind = kind_below(plan, limit.kind);
	plan->lefttree = replace_in_plan(plan->lefttree, child_limit, statement);
	plan->righttree = replace_in_plan(plan->righttree, right_limit, statement);
	plan = finish_node(plan, limit, statement);
	return statement->looks_only ? plan : note_kind(plan, limit.kind, statement);
}

static void
go_through(GpuSortStatement *statement, bool all_read)
{
	PlannedStmt *stmt = statement->stmt;
	GpuSortLimit limit = {.rows = GPUSORT_NO_LIMIT, .all_read = all_read,
		.kind = GPUSORT_KIND_ORDER_BY};
	GpuSortLimit subplan_limit = {.rows = GPUSORT_NO_LIMIT, .kind = GPUSORT_KIND_ORDER_BY};

	stmt->planTree = replace_in_plan(stmt->planTree, limit, statement);
	replace_in_list(stmt->subplans, subplan_limit, statement);
}

void
gpusort_replace_sorts(PlannedStmt *stmt, bool take_over, bool all_read)
{
	GpuSortStatement statement = {.stmt = stmt, .take_over = take_over};

	go_through(&statement, all_read);
	if (statement.has_ours)
		gpusort_plan_add_up(stmt);
}

List *
gpusort_look_at_sorts(PlannedStmt *stmt, bool all_read)
{
	GpuSortStatement statement = {.stmt = stmt, .looks_only = true};

	if (!gpusort_enabled)
		statement.left_alone = "gpusort.enabled is off";
	go_through(&statement, all_read);
	return statement.looks;
}
