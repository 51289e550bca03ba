/*
 * plan_merge_append.c
 *		One sort of all rows in the place of a MergeAppend above several sorts; see
 *		plan_replace_private.h.
 *
 * If at least one of several partitions, or members of a UNION ALL, comes in order by itself, the
 * planner sorts the others one by one and merges all of them.  Merging costs several comparisons a
 * row, each through two slots.  A sort of ours takes no longer for all rows than for those of each
 * member, and reads them page by page (sort/sort_input.c).  The rows that come in order are sorted
 * once more.
 *
 * A MergeAppend, the sorts below it and what they sort have the same columns, including those that
 * are only sorted by.  So an Append of what they sort can take the place of the MergeAppend's list
 * of children, with the node id of one of the sorts.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"

#include "pg_compat/planner.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_replace_private.h"
#include "settings.h"

/* What a row of an Append costs beyond its children (APPEND_CPU_COST_MULTIPLIER). */
#define APPEND_ROW_COST	(0.5 * cpu_tuple_cost)

static bool
is_sort(const Plan *plan)
{
	return IsA(plan, Sort) || IsA(plan, IncrementalSort);
}

Sort *
gpusort_plan_sort_of_merge(const MergeAppend *merge)
{
	Sort	   *sort = makeNode(Sort);

	sort->plan = merge->plan;
	NodeSetTag(sort, T_Sort);
	sort->numCols = merge->numCols;
	sort->sortColIdx = merge->sortColIdx;
	sort->sortOperators = merge->sortOperators;
	sort->collations = merge->collations;
	sort->nullsFirst = merge->nullsFirst;
	return sort;
}

/* Makes an Append of what the sorts sort, and of the other children. */
static Append *
append_inputs(const MergeAppend *merge)
{
	Append	   *append = gpusort_make_append(merge);
	Plan	   *plan = &append->plan;
	ListCell   *lc;

	plan->initPlan = NIL;
	plan->startup_cost = 0;
	plan->total_cost = merge->plan.plan_rows * APPEND_ROW_COST;
	plan->extParam = bms_copy(plan->extParam);
	plan->allParam = bms_copy(plan->allParam);
	foreach(lc, merge->mergeplans)
	{
		Plan	   *child = lfirst(lc);

		plan->extParam = bms_add_members(plan->extParam, child->extParam);
		plan->allParam = bms_add_members(plan->allParam, child->allParam);
		if (is_sort(child))
		{
			plan->plan_node_id = child->plan_node_id;
			child = child->lefttree;
		}
		plan->total_cost += child->total_cost;
		plan->plan_width = Max(plan->plan_width, child->plan_width);
		append->appendplans = lappend(append->appendplans, child);
	}
	return append;
}

/*
 * Returns what sorting and merging cost as the plan stands, by PostgreSQL or by us, without the
 * sorts' input.
 */
static Cost
cost_as_it_stands(const MergeAppend *merge, const Append *append, const PlannedStmt *stmt)
{
	Cost		cost = merge->plan.total_cost - append->plan.total_cost;
	ListCell   *lc;

	foreach(lc, merge->mergeplans)
	{
		const Plan *child = lfirst(lc);
		GpuSortLimit limit = {.rows = GPUSORT_NO_LIMIT};
		GpuSortEstimate estimate;
		Cost		core;

		if (!IsA(child, Sort))
			continue;
		core = child->total_cost - child->lefttree->total_cost;
		if (gpusort_reason_to_leave((const Sort *) child, limit, stmt, &estimate) == NULL)
			cost -= Max(core - (estimate.startup_cost + estimate.run_cost), 0);
	}
	return cost;
}

/*
 * Returns whether there is a sort to be saved.  No sort may have initplans, which would be lost
 * with it.
 */
static bool
any_sort(const MergeAppend *merge)
{
	bool		any = false;
	ListCell   *lc;

	foreach(lc, merge->mergeplans)
	{
		const Plan *child = lfirst(lc);

		if (is_sort(child) && child->initPlan != NIL)
			return false;
		any |= is_sort(child);
	}
	return any;
}

Sort *
gpusort_plan_sort_instead_of_merging(const MergeAppend *merge, GpuSortLimit limit,
									 const PlannedStmt *stmt, const char **reason)
{
	Sort	   *sort = gpusort_plan_sort_of_merge(merge);
	Append	   *append;
	GpuSortEstimate estimate;

	*reason = !gpusort_enable_order_by ? "gpusort.enable_order_by is off"
		: !any_sort(merge) ? "all inputs that are merged come in order"
		: limit.rows >= 0 ? "not all rows that are merged may be wanted" : NULL;
	if (*reason != NULL)
		return NULL;
	append = append_inputs(merge);
	sort->plan.lefttree = &append->plan;
	*reason = gpusort_reason_to_leave(sort, limit, stmt, &estimate);
	if (*reason == NULL && !gpusort_force &&
		estimate.startup_cost + estimate.run_cost > cost_as_it_stands(merge, append, stmt))
		*reason = "estimated to cost more than merging what is sorted";
	return *reason == NULL ? sort : NULL;
}
