/*
 * plan_order_by.c
 *		GpuSort paths for the query's ORDER BY, competing by cost.
 *
 * The paths are offered at UPPERREL_ORDERED beside the planner's own Sort: one
 * over the cheapest input, others over inputs that parallel workers read
 * (plan_order_by_gathered.c).  A plan is built from a finished Sort node (plan_node.c): the
 * path's child is a SortPath over the input.
 *
 * Not offered where foreign servers deliver the order in what is the cheapest plan without us:
 * what a foreign data wrapper charges for that is a guess, or another server's estimate of
 * a sort by PostgreSQL, so comparing costs would take away work that was pushed down.
 *
 * Not offered, although the sort itself may be taken over later by
 * plan_replace.c: set operations (upper_targets is not filled in, and Vars have
 * no range table entry to refer to) and queries that carry row identity Vars,
 * which must not show up in custom_scan_tlist.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "pg_compat.h"
#include "plan/plan_estimate.h"
#include "plan/plan_node.h"
#include "plan/plan_order_by.h"
#include "plan/plan_order_by_gathered.h"

static Plan *
plan_order_by_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
				   List *clauses, List *custom_plans)
{
	const Sort *sort = linitial_node(Sort, custom_plans);

	return &gpusort_make_node(GPUSORT_NODE, sort, best_path->flags)->scan.plan;
}

static const CustomPathMethods order_by_path_methods = {
	.CustomName = GPUSORT_NODE,
	.PlanCustomPath = plan_order_by_path
};

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
	cpath->flags = GPUSORT_NODE_FLAGS;
	cpath->custom_paths = list_make1(create_sort_path(root, rel, input, root->sort_pathkeys, -1));
	cpath->methods = &order_by_path_methods;
	return path;
}

/* Do foreign servers deliver all order that the path has? */
static bool
is_sorted_remotely(const Path *path)
{
	const List *subpaths;
	ListCell   *lc;

	switch (nodeTag(path))
	{
		case T_ForeignPath:
			return path->pathkeys != NIL;
		case T_ProjectionPath:
			return is_sorted_remotely(((const ProjectionPath *) path)->subpath);
		case T_AppendPath:
			subpaths = ((const AppendPath *) path)->subpaths;
			break;
		case T_MergeAppendPath:
			subpaths = ((const MergeAppendPath *) path)->subpaths;
			break;
		default:
			return false;
	}
	foreach(lc, subpaths)
	{
		if (!is_sorted_remotely((const Path *) lfirst(lc)))
			return false;
	}
	return subpaths != NIL;
}

/*
 * The limit that the sort will be told: not if ties are wanted, too, nor through the node that
 * locks rows, which leaves out some; 0 if its value is not known yet.
 */
static double
known_limit(const PlannerInfo *root)
{
	const Query *parse = root->parse;

	if (parse->limitOption == LIMIT_OPTION_WITH_TIES || parse->rowMarks != NIL)
		return GPUSORT_NO_LIMIT;
	if (root->limit_tuples < 0 && parse->limitCount != NULL && !IsA(parse->limitCount, Const))
		return 0;
	return root->limit_tuples;
}

void
gpusort_add_order_by_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel)
{
	Path	   *input = input_rel->cheapest_total_path;
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	double		limit_rows = known_limit(root);
	GpuSortPathKeys keys;
	GpuSortEstimate estimate;
	const char *reason;
	List	   *paths;
	ListCell   *lc;

	if (input == NULL || target == NULL || root->sort_pathkeys == NIL ||
		root->parse->setOperations != NULL || root->row_identity_vars != NIL ||
		pathkeys_contained_in(root->sort_pathkeys, input->pathkeys))
		return;

	/* the cheapest path comes first */
	if (ordered_rel->pathlist != NIL && is_sorted_remotely(linitial(ordered_rel->pathlist)))
		return;

	if (!gpusort_read_pathkeys(input, root->sort_pathkeys, &keys, &reason))
		return;
	keys.rows = input->rows;
	paths = gpusort_make_gathered_paths(root, input_rel, ordered_rel, &keys, limit_rows);
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
