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

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "settings.h"
#include "sort/sort.h"

/* ---------- paths whose rows parallel workers collect ---------- */

/*
 * There is one for each partial path of the input, which the participants of a Gather read
 * (plan_node.h).
 *
 * As for a serial node, the columns come from a finished Sort node over the partial plan.  GpuSort
 * Collect takes them over, and GpuSort has the same columns.
 *
 * The parent of a GpuSort Collect is the upper relation, since a base relation would give it that
 * relation's gating quals.  It is marked parallel aware, since the server sets up shared memory for
 * such nodes only.
 */

static Plan *
plan_collect_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				  List *clauses, List *custom_plans)
{
	return &gpusort_make_collect(linitial_node(Sort, custom_plans))->scan.plan;
}

static Plan *
plan_gather_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				 List *clauses, List *custom_plans)
{
	return &gpusort_make_gathered(linitial_node(Gather, custom_plans))->scan.plan;
}

static const CustomPathMethods collect_path_methods = {
	.CustomName = GPUSORT_COLLECT_NODE,
	.PlanCustomPath = plan_collect_path
};

static const CustomPathMethods gather_path_methods = {
	.CustomName = GPUSORT_NODE,
	.PlanCustomPath = plan_gather_path
};

/*
 * Makes the path of what a participant does.  The partial path's rows and cost are those of one
 * participant, with the leader's own share of work considered.
 */
static Path *
make_collect_path(PlannerInfo *root, RelOptInfo *rel, Path *partial, const GpuSortPathKeys *keys,
				  double all_rows, const GpuSortEstimate *estimate)
{
	CustomPath *cpath = makeNode(CustomPath);
	Path	   *path = &cpath->path;

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = partial->pathtarget;
	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = partial->parallel_workers;
	path->rows = 0;
	path->total_cost = gpusort_participants_cost(estimate, partial->total_cost, partial->rows,
												 all_rows);
	path->startup_cost = path->total_cost;
	gpusort_copy_path_disabled(path, partial);
	cpath->custom_paths = list_make1(create_sort_path(root, rel, partial, keys->pathkeys, -1));
	cpath->methods = &collect_path_methods;
	return path;
}

static Path *
make_gather_path(PlannerInfo *root, RelOptInfo *rel, Path *partial, const GpuSortPathKeys *keys,
				 double all_rows, const GpuSortEstimate *estimate)
{
	CustomPath *cpath = makeNode(CustomPath);
	Path	   *path = &cpath->path;
	Path	   *collect = make_collect_path(root, rel, partial, keys, all_rows, estimate);
	double		gathered_rows = 0;
	Path	   *gather = (Path *) create_gather_path(root, rel, collect, partial->pathtarget, NULL,
													 &gathered_rows);

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = partial->pathtarget;
	path->rows = all_rows;
	gpusort_gathered_costs(estimate, gather->total_cost, all_rows, &path->startup_cost,
						   &path->total_cost);
	gpusort_set_path_disabled(path, gather);
	path->pathkeys = keys->pathkeys;
	cpath->flags = GPUSORT_NODE_FLAGS;
	cpath->custom_paths = list_make1(gather);
	cpath->methods = &gather_path_methods;
	return path;
}

/*
 * Returns whether workers may compute what the rows are sorted by, if it is not given to them.
 * What an aggregate wants its rows sorted by is not in its input.
 */
static bool
is_computable(PlannerInfo *root, const Path *partial, const GpuSortPathKeys *keys)
{
	ListCell   *lc;

	foreach(lc, keys->exprs)
	{
		if (!list_member(partial->pathtarget->exprs, lfirst(lc)) &&
			!is_parallel_safe(root, (Node *) lfirst(lc)))
			return false;
	}
	return true;
}

/*
 * Returns whether sorting the rows of this partial path of a join would only cost more than sorting
 * those of one before it in the list.  The paths are in the order of their costs, and make no
 * difference to a sort.
 */
static bool
costs_more(const RelOptInfo *rel, const Path *partial)
{
	ListCell   *lc;

	if (!IS_JOIN_REL(rel))
		return false;
	foreach(lc, rel->partial_pathlist)
	{
		const Path *before = (const Path *) lfirst(lc);

		if (before == partial)
			return false;
		if (before->parallel_workers == partial->parallel_workers && before->param_info == NULL)
			return true;
	}
	return false;
}

/*
 * Makes paths that sort the input's rows by these keys: a List of Path, which are not projected
 * yet.
 */
static List *
gpusort_make_gathered_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
							GpuSortPathKeys *keys, double limit_rows)
{
	double		all_rows = clamp_row_est(input_rel->cheapest_total_path->rows);
	List	   *paths = NIL;
	ListCell   *lc;

	if (!gpusort_enable_parallel_collect || gpusort_sort_pool_limit() == 0)
		return NIL;
	foreach(lc, input_rel->partial_pathlist)
	{
		Path	   *partial = (Path *) lfirst(lc);
		GpuSortEstimate estimate;

		if (partial->parallel_workers > 0 && partial->param_info == NULL &&
			!costs_more(input_rel, partial) && is_computable(root, partial, keys) &&
			gpusort_estimate_path(root, partial, keys, limit_rows, &estimate))
			paths = lappend(paths,
							make_gather_path(root, rel, partial, keys, all_rows, &estimate));
	}
	return paths;
}

/* ---------- all paths ---------- */

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
