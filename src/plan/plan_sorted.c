/*
 * plan_sorted.c
 *		GpuSort paths over a relation's rows.
 *
 * A plan is made from a finished Sort node (plan_node.c): the path's child is a SortPath over the
 * input.
 *
 * No paths are made if foreign servers deliver the order, or groups, in what is the cheapest plan
 * without us.  What a foreign data wrapper charges for that is a guess, or another server's
 * estimate of a sort by PostgreSQL, so that comparing costs would take back work that was pushed
 * down.
 *
 * Nor are paths made for queries that have row identity Vars, which must not show up in
 * custom_scan_tlist; the sort itself may be taken over later by plan_replace.c.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_below.h"
#include "plan/plan_estimate.h"
#include "plan/plan_node.h"
#include "plan/plan_sorted.h"
#include "plan/plan_sorted_gathered.h"
#include "settings.h"

static Plan *
plan_sorted_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				 List *clauses, List *custom_plans)
{
	const Sort *sort = linitial_node(Sort, custom_plans);

	return &gpusort_make_node(GPUSORT_NODE, sort, best_path->flags)->scan.plan;
}

static const CustomPathMethods sorted_path_methods = {
	.CustomName = GPUSORT_NODE,
	.PlanCustomPath = plan_sorted_path
};

static Path *
make_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *input, const GpuSortPathKeys *keys,
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
	path->pathkeys = keys->pathkeys;
	cpath->flags = GPUSORT_NODE_FLAGS;
	cpath->custom_paths = list_make1(create_sort_path(root, rel, input, keys->pathkeys, -1));
	cpath->methods = &sorted_path_methods;
	return path;
}

bool
gpusort_is_sorted_remotely(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_ForeignPath:
			return path->pathkeys != NIL;
		case T_ProjectionPath:
		case T_UpperUniquePath:
		case T_AggPath:
		case T_GroupPath:
		case T_GroupingSetsPath:
		case T_WindowAggPath:
		case T_AppendPath:
		case T_MergeAppendPath:
			return gpusort_all_below(path, gpusort_is_sorted_remotely);
		default:
			return false;
	}
}

bool
gpusort_is_computed_remotely(const Path *path)
{
	return IsA(path, ForeignPath) ||
		((IsA(path, ProjectionPath) || IsA(path, AppendPath)) &&
		 gpusort_all_below(path, gpusort_is_computed_remotely));
}

Path *
gpusort_make_participants_path(PlannerInfo *root, RelOptInfo *rel, Path *partial, List *pathkeys)
{
	GpuSortPathKeys keys;
	GpuSortEstimate estimate;
	const char *reason;

	if (root->row_identity_vars != NIL || !gpusort_read_pathkeys(partial, pathkeys, &keys, &reason))
		return NULL;
	keys.rows = partial->rows;
	keys.joined = true;
	if (!gpusort_estimate_path(root, partial, &keys, GPUSORT_NO_LIMIT, &estimate))
		return NULL;
	return make_sorted_path(root, rel, partial, &keys, &estimate);
}

/*
 * Returns whether foreign servers deliver the order, or the groups, in what is the cheapest plan
 * without us.  Paths that cost less may stand above joins of ours, so the paths are compared with
 * PostgreSQL's sort of the input, too.
 */
static bool
is_delivered(PlannerInfo *root, const RelOptInfo *input_rel, const RelOptInfo *rel,
			 List *pathkeys, double limit_rows)
{
	const Path *input = input_rel->cheapest_total_path;
	Cost		sorted_here;
	ListCell   *lc;

	/* The cheapest path comes first. */
	if (rel->pathlist != NIL && (gpusort_is_sorted_remotely(linitial(rel->pathlist)) ||
								 (rel != input_rel &&
								  gpusort_is_computed_remotely(linitial(rel->pathlist)))))
		return true;
	if (limit_rows != GPUSORT_NO_LIMIT)
		return false;
	sorted_here = input->total_cost + gpusort_core_sort_cost(root, pathkeys, input->rows,
															 input->pathtarget->width);
	foreach(lc, rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		/* add_path() takes costs that differ by 1 % for the same. */
		if (gpusort_is_sorted_remotely(path) && path->total_cost <= 1.01 * sorted_here)
			return true;
	}
	return false;
}

List *
gpusort_make_sorted_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
						  List *pathkeys, double limit_rows)
{
	Path	   *input = input_rel->cheapest_total_path;
	GpuSortPathKeys keys;
	GpuSortEstimate estimate;
	const char *reason;
	List	   *paths;

	/* Short queries are planned as fast as without us. */
	if (input == NULL || (!gpusort_force && input->rows < gpusort_min_rows))
		return NIL;
	if (pathkeys == NIL || root->row_identity_vars != NIL ||
		is_delivered(root, input_rel, rel, pathkeys, limit_rows) ||
		!gpusort_read_pathkeys(input, pathkeys, &keys, &reason))
		return NIL;
	keys.rows = input->rows;
	keys.joined = rel == input_rel;
	paths = gpusort_make_gathered_paths(root, input_rel, rel, &keys, limit_rows);
	if (gpusort_estimate_path(root, input, &keys, limit_rows, &estimate))
		paths = lcons(make_sorted_path(root, rel, input, &keys, &estimate), paths);
	return paths;
}
