/*
 * plan_sorted_gathered.c
 *		GpuSort paths whose rows parallel workers collect.
 *
 * There is one for each partial path of the input, which the participants of a Gather read
 * (plan_collect.h).
 *
 * As for a serial node, the columns come from a finished Sort node over the partial plan.  GpuSort
 * Collect takes them over, and GpuSort has the same columns.
 *
 * The parent of a GpuSort Collect is the upper relation, since a base relation would give it that
 * relation's gating quals.  It is marked parallel aware, since the server sets up shared memory for
 * such nodes only.
 */
#include "postgres.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "pg_compat/paths.h"
#include "plan/plan_collect.h"
#include "plan/plan_estimate.h"
#include "plan/plan_sorted_gathered.h"
#include "settings.h"
#include "sort/sort.h"

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

List *
gpusort_make_gathered_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *rel,
							GpuSortPathKeys *keys, double limit_rows)
{
	double		all_rows = clamp_row_est(input_rel->cheapest_total_path->rows);
	List	   *paths = NIL;
	ListCell   *lc;

	if (!gpusort_enable_parallel_collect || gpusort_pool_limit() == 0)
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
