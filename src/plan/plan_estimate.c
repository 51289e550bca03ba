/*
 * plan_estimate.c
 *		Estimates of sorts in plans: of a path's rows, and of a finished plan's Sort.
 *
 * A sort whose rows could be fetched by TID (plan_late.c) is estimated twice, of whole rows and of
 * narrow ones, and the better estimate is taken.  The planner's choice among paths and the decision
 * about the finished plan rest on the same estimate.
 */
#include "postgres.h"

#include <float.h>

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "cost/cost.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/* ---------- paths ---------- */

static bool
estimate_keys(const GpuSortPathKeys *keys, bool in_order, int width, double limit_rows,
			  GpuSortEstimate *estimate)
{
	/* not told here, but when the Sort node of the finished plan is looked at */
	const char *reason;

	if (!gpusort_estimate(&keys->by, keys->rows, width, estimate, &reason))
		return false;
	if (!keys->joined && limit_rows == GPUSORT_NO_LIMIT)
		gpusort_estimate_key_rows(&keys->by, keys->rows, width, estimate);
	if (in_order)
		gpusort_estimate_in_order(keys->by.count, keys->rows, estimate);
	gpusort_estimate_bounded(keys->rows, limit_rows, estimate);
	return true;
}

/*
 * Returns whether a sort can read a path's rows from the pages of tables (sort/sort_input.c).  What
 * a scan projects is no obstacle.
 */
static bool
comes_from_pages(const Path *path)
{
	switch (path->pathtype)
	{
		case T_SeqScan:
			return true;
		case T_Result:
			return IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp &&
				gpusort_all_below(path, comes_from_pages);
		case T_SubqueryScan:
			return path->parent->baserestrictinfo == NIL &&
				gpusort_all_below(path, comes_from_pages);
		case T_Append:
			return gpusort_all_below(path, comes_from_pages);
		default:
			return false;
	}
}

/*
 * Estimates a sort of a join's rows.  Whether workers or one process produce them makes no
 * difference to the sort, so that the estimate is kept in *keys.
 */
static bool
estimate_slots(GpuSortPathKeys *keys, int width, double limit_rows, GpuSortEstimate *estimate)
{
	if (!keys->estimated || keys->width != width)
	{
		if (!estimate_keys(keys, false, width, limit_rows, &keys->estimate))
			return false;
		gpusort_estimate_slots(keys->rows, limit_rows, &keys->estimate);
		keys->width = width;
		keys->estimated = true;
	}
	*estimate = keys->estimate;
	return true;
}

/*
 * Estimates a sort of a table's rows, which may come in order, or be fetched by TID.  Returns false
 * if it is not worth it.
 */
static bool
estimate_table(PlannerInfo *root, const Path *input, const GpuSortPathKeys *keys, double limit_rows,
			   GpuSortEstimate *estimate)
{
	bool		in_order = gpusort_path_is_in_order(root, input, keys);
	GpuSortFetch fetch;
	GpuSortEstimate narrow;

	if (!estimate_keys(keys, in_order, input->pathtarget->width, limit_rows, estimate))
		return false;
	if (gpusort_late_may_pay(keys->rows, limit_rows, estimate) &&
		gpusort_path_can_fetch(root, input, keys, &fetch) &&
		estimate_keys(keys, in_order, fetch.width, limit_rows, &narrow))
		gpusort_choose_late(&fetch, keys->rows, limit_rows, &narrow, estimate);
	if (!comes_from_pages(input))
		gpusort_estimate_slots(keys->rows, limit_rows, estimate);
	/*
	 * If the rows come in order, PostgreSQL's sort finds out, and takes less than the planner
	 * charges it; ours must not cost more than that.  This does not apply to joins, which have
	 * sorts of ours on both sides and are compared as a whole.
	 */
	return gpusort_force || keys->joined || !in_order || keys->by.count > 1 ||
		gpusort_cost_until(estimate, keys->rows, limit_rows) <= estimate->core_sorted_cost;
}

bool
gpusort_estimate_path(PlannerInfo *root, const Path *input, GpuSortPathKeys *keys,
					  double limit_rows, GpuSortEstimate *estimate)
{
	int			width = input->pathtarget->width;
	int			participants = input->parallel_workers + 1;
	const char *reason;

	keys->by.tied_share = gpusort_tied_share(root, keys);
	if (!(IS_JOIN_REL(input->parent) ? estimate_slots(keys, width, limit_rows, estimate) :
		  estimate_table(root, input, keys, limit_rows, estimate)))
		return false;
	return gpusort_worth_it(keys->rows, width, limit_rows, estimate, &reason) &&
		(participants == 1 || gpusort_force || gpusort_cost_pool_suffices(estimate, participants));
}

/*
 * The rows of a table may be fetched late, and come in order: in that case they cost less than
 * others.
 */
Cost
gpusort_least_sorted_cost(const RelOptInfo *rel, List *pathkeys, Cost row_cost)
{
	const Path *input = rel->cheapest_total_path;
	const Path *partial = rel->partial_pathlist != NIL ? linitial(rel->partial_pathlist) : NULL;
	int			width = input->pathtarget->width;
	GpuSortPathKeys keys;
	GpuSortEstimate estimate;
	const char *reason;
	Cost		sort;
	Cost		least;

	if (!gpusort_read_pathkeys(input, pathkeys, &keys, &reason) ||
		!gpusort_estimate(&keys.by, input->rows, IS_JOIN_REL(rel) ? width : 0, &estimate, &reason))
		return DBL_MAX;
	gpusort_estimate_key_rows(&keys.by, input->rows, width, &estimate);
	sort = estimate.startup_cost;
	if (!IS_JOIN_REL(rel) && keys.by.count == 1)
		sort = Min(sort, estimate.collect_cost);
	sort += input->rows * row_cost;
	least = input->total_cost + sort;
	if (partial != NULL)
		least = Min(least,
					parallel_setup_cost + partial->total_cost +
					sort / (partial->parallel_workers + 1));
	return least;
}

/* ---------- finished plans ---------- */

/*
 * Returns whether a sort can read the rows of a finished plan from the pages of tables, as
 * comes_from_pages() does.
 */
static bool
reads_pages(const Plan *plan)
{
	ListCell   *lc;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
			return true;
		case T_SubqueryScan:
			return plan->qual == NIL && reads_pages(((const SubqueryScan *) plan)->subplan);
		case T_Append:
			foreach(lc, ((const Append *) plan)->appendplans)
			{
				if (!reads_pages((const Plan *) lfirst(lc)))
					return false;
			}
			return true;
		default:
			return false;
	}
}

static bool
estimate_sort(const Sort *sort, GpuSortLimit limit, const PlannedStmt *stmt,
			  GpuSortEstimate *estimate, const char **reason)
{
	double		bound = limit.is_told ? limit.rows : GPUSORT_NO_LIMIT;
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
	if (bound == GPUSORT_NO_LIMIT)
		gpusort_estimate_key_rows(&keys, rows, child->plan_width, estimate);
	gpusort_estimate_bounded(rows, bound, estimate);
	if (gpusort_late_may_pay(rows, limit.rows, estimate) &&
		gpusort_plan_can_fetch(sort, stmt, &fetch) &&
		gpusort_estimate(&keys, rows, fetch.width, &narrow, reason))
	{
		gpusort_estimate_bounded(rows, bound, &narrow);
		gpusort_choose_late(&fetch, rows, limit.rows, &narrow, estimate);
	}
	if (!reads_pages(child))
		gpusort_estimate_slots(rows, bound, estimate);
	return true;
}

const char *
gpusort_reason_to_leave(const Sort *sort, GpuSortLimit limit, const PlannedStmt *stmt,
						GpuSortEstimate *estimate)
{
	const char *reason = NULL;

	if (!estimate_sort(sort, limit, stmt, estimate, &reason) ||
		!gpusort_worth_it(sort->plan.plan_rows, sort->plan.lefttree->plan_width, limit.rows,
						  estimate, &reason))
		return reason;
	return NULL;
}

/* This is the planner's estimate, corrected by what we know better. */
Cost
gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate, const List *rtable)
{
	if (gpusort_plan_input_is_in_order(sort, rtable))
		return estimate->core_sorted_cost;
	return sort->plan.total_cost - sort->plan.lefttree->total_cost + estimate->core_extra_cost;
}
