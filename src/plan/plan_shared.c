/*
 * plan_shared.c
 *		Making the plan node GpuSort Shared; see plan_shared.h.
 *
 * As with the other nodes, the columns are taken from a Sort node that the planner makes of a path
 * below.  Redundant pathkeys make no column of it, so a path that is to be sliced must be given
 * pathkeys each of which makes one.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

#include "pg_compat/paths.h"
#include "plan/plan_node.h"
#include "plan/plan_pathkeys.h"
#include "plan/plan_shared.h"
#include "plan/plan_statistics.h"
#include "settings.h"
#include "sort/sort.h"

int
gpusort_slice_columns(const CustomScan *scan)
{
	return linitial_int(list_nth(scan->custom_private, GPUSORT_PRIVATE_SLICE_COLUMNS));
}

static Plan *
plan_shared_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				 List *clauses, List *custom_plans)
{
	const Sort *sort = linitial_node(Sort, custom_plans);
	CustomScan *scan = gpusort_make_node(GPUSORT_SHARED_NODE, sort, best_path->flags);
	List	   *slice_columns = linitial(best_path->custom_private);

	if (linitial_int(slice_columns) > sort->numCols)
		elog(ERROR, "gpusort: slices by more columns than there are");
	scan->custom_private = lappend(scan->custom_private, slice_columns);
	return &scan->scan.plan;
}

static const CustomPathMethods shared_path_methods = {
	.CustomName = GPUSORT_SHARED_NODE,
	.PlanCustomPath = plan_shared_path
};

/*
 * Collecting is shared, and so is putting the rows in order.  For what one participant does besides
 * that, the others wait.  What the node returns is all rows, or a participant's share of them.
 */
Path *
gpusort_make_shared_path(PlannerInfo *root, RelOptInfo *rel, const GpuSortSharedSort *sort)
{
	CustomPath *cpath = makeNode(CustomPath);
	Path	   *path = &cpath->path;
	Path	   *partial = sort->partial;
	const GpuSortEstimate *estimate = &sort->estimate;
	bool		whole = sort->slice_columns == 0;

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = partial->pathtarget;
	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = partial->parallel_workers;
	path->rows = whole ? sort->all_rows : partial->rows;
	path->startup_cost = gpusort_participants_cost(estimate, partial->total_cost, partial->rows,
												   sort->all_rows) +
		gpusort_alone_cost(estimate, sort->all_rows);
	path->total_cost = path->startup_cost +
		estimate->run_cost * Min(path->rows / sort->all_rows, 1);
	gpusort_set_path_disabled(path, partial);
	path->pathkeys = sort->pathkeys;
	cpath->flags = whole ? CUSTOMPATH_SUPPORT_MARK_RESTORE : 0;
	cpath->custom_paths = list_make1(create_sort_path(root, rel, partial, sort->pathkeys, -1));
	cpath->custom_private = list_make1(list_make1_int(sort->slice_columns));
	cpath->methods = &shared_path_methods;
	return path;
}

bool
gpusort_plans_shared(void)
{
	return gpusort_enabled && gpusort_enable_order_by && gpusort_enable_shared_sort &&
		gpusort_pool_limit() > 0;
}

static bool
estimate_shared(PlannerInfo *root, GpuSortSharedSort *sort, const char **reason)
{
	GpuSortPathKeys keys;

	if (!gpusort_read_pathkeys(sort->partial, sort->pathkeys, &keys, reason))
		return false;
	keys.rows = sort->all_rows;
	keys.by.tied_share = gpusort_tied_share(root, &keys);
	return gpusort_estimate(&keys.by, sort->all_rows, sort->partial->pathtarget->width,
							&sort->estimate, reason);
}

/*
 * Returns whether the pool is large enough.  Slices may spill, since each is read back by one
 * participant; rows that go to all participants have to fit.
 */
static bool
pool_suffices(const GpuSortSharedSort *sort, int participants)
{
	return sort->slice_columns > 0 ? gpusort_pool_suffices(&sort->estimate, participants)
		: gpusort_fits_pool(&sort->estimate, participants);
}

bool
gpusort_shared_worth_it(PlannerInfo *root, GpuSortSharedSort *sort)
{
	const Path *partial = sort->partial;
	const char *reason;

	return partial->parallel_workers > 0 && partial->param_info == NULL &&
		estimate_shared(root, sort, &reason) &&
		gpusort_worth_it(sort->all_rows, partial->pathtarget->width, GPUSORT_NO_LIMIT,
						 &sort->estimate, &reason) &&
		(gpusort_force || pool_suffices(sort, partial->parallel_workers + 1));
}
