/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one
 * over the cheapest input, others over inputs that parallel workers read
 * (plan_gather.c).  A plan is built from a finished Sort node (plan_node.c): the
 * path's child is a SortPath over the input.
 *
 * Not offered, although the sort itself may be taken over later by
 * plan_replace.c: set operations (upper_targets is not filled in, and Vars have
 * no range table entry to refer to) and queries that carry row identity Vars,
 * which must not show up in custom_scan_tlist.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "pg_compat.h"
#include "plan/plan_late.h"
#include "plan/plan_slices.h"
#include "settings.h"

static create_upper_paths_hook_type previous_upper_paths_hook = NULL;

static Plan *
plan_order_by_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				   List *clauses, List *custom_plans)
{
	Sort	   *sort = linitial_node(Sort, custom_plans);

	return &gpusort_make_plan(sort)->scan.plan;
}

static const CustomPathMethods order_by_path_methods = {
	.CustomName = "GpuSort",
	.PlanCustomPath = plan_order_by_path
};

static bool
estimate_keys(const GpuSortPathKeys *keys, bool in_order, int width, GpuSortEstimate *estimate)
{
	const char *reason;			/* is told when the Sort node in the plan is looked at */

	if (!gpusort_estimate(&keys->by, keys->rows, width, estimate, &reason))
		return false;
	if (in_order)
		gpusort_estimate_in_order(keys->by.count, keys->rows, estimate);
	return true;
}

bool
gpusort_estimate_path(PlannerInfo *root, const Path *input, const GpuSortPathKeys *keys,
					  double limit_rows, GpuSortEstimate *estimate)
{
	int			width = input->pathtarget->width;
	double		rows = keys->rows;
	int			participants = input->parallel_workers + 1;
	bool		in_order = gpusort_path_is_in_order(root, input, keys);
	const char *reason;
	GpuSortFetch fetch;
	GpuSortEstimate narrow;

	if (!estimate_keys(keys, in_order, width, estimate))
		return false;
	if (gpusort_path_can_fetch(root, input, keys, &fetch) &&
		estimate_keys(keys, in_order, fetch.width, &narrow))
		gpusort_choose_late(&fetch, rows, limit_rows, &narrow, estimate);
	return gpusort_worth_it(rows, width, limit_rows, estimate, &reason) &&
		(participants == 1 || gpusort_force || gpusort_fits_pool(estimate, participants));
}

/* The path, not projected yet. */
static Path *
make_order_by_path(PlannerInfo *root, RelOptInfo *rel, Path *input,
				   const GpuSortEstimate *estimate)
{
	CustomPath *cpath = makeNode(CustomPath);
	Path	   *path = &cpath->path;

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = input->pathtarget;
	path->param_info = input->param_info;
	path->parallel_aware = false;
	path->parallel_safe = rel->consider_parallel && input->parallel_safe;
	path->parallel_workers = input->parallel_workers;
	path->rows = input->rows;
	path->startup_cost = input->total_cost + estimate->startup_cost;
	path->total_cost = path->startup_cost + estimate->run_cost;
	gpusort_set_path_disabled(path, input);
	path->pathkeys = root->sort_pathkeys;
	cpath->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE;
	cpath->custom_paths = list_make1(create_sort_path(root, rel, input, root->sort_pathkeys, -1));
	cpath->methods = &order_by_path_methods;
	return path;
}

static void
add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *input = input_rel->cheapest_total_path;
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	double		limit_rows = root->limit_tuples;
	GpuSortPathKeys keys;
	GpuSortEstimate estimate;
	const char *reason;
	List	   *paths;
	ListCell   *lc;

	if (input == NULL || target == NULL || root->sort_pathkeys == NIL ||
		root->parse->setOperations != NULL || root->row_identity_vars != NIL ||
		pathkeys_contained_in(root->sort_pathkeys, input->pathkeys))
		return;

	/* a limit whose value is not known yet */
	if (limit_rows < 0 && root->parse->limitCount != NULL &&
		!IsA(root->parse->limitCount, Const))
		limit_rows = 0;

	if (!gpusort_read_pathkeys(input, root->sort_pathkeys, &keys, &reason))
		return;
	keys.rows = input->rows;
	paths = gpusort_make_gather_paths(root, input_rel, ordered_rel, &keys, limit_rows);
	if (gpusort_estimate_path(root, input, &keys, limit_rows, &estimate))
		paths = lcons(make_order_by_path(root, ordered_rel, input, &estimate), paths);
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path->pathtarget != target)
			path = apply_projection_to_path(root, ordered_rel, path, target);
		add_path(ordered_rel, path);
	}
}

static void
consider_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
					 RelOptInfo *output_rel, void *extra)
{
	if (previous_upper_paths_hook)
		previous_upper_paths_hook(root, stage, input_rel, output_rel, extra);

	if (!gpusort_enabled || !gpusort_enable_order_by)
		return;
	if (stage == UPPERREL_ORDERED)
		add_order_by_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_WINDOW)
		gpusort_add_window_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_GROUP_AGG)
		gpusort_add_group_paths(root, input_rel, output_rel);
}

void
gpusort_install_order_by_hook(void)
{
	previous_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = consider_upper_paths;
}
