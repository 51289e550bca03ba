/*
 * plan_gather.c
 *		Plans whose rows are collected by parallel workers.
 *
 *		Custom Scan (GpuSort)
 *		  -> Gather
 *		    -> Parallel Custom Scan (GpuSort Collect)
 *		      -> partial path
 *
 * The participants put their rows into parts of one sort in shared memory
 * (sort_parts.h), so that normally none passes Gather, which therefore is
 * expected to return 0 rows.  What is left to the leader is to sort and to return
 * the rows.
 *
 * As for a serial node, the columns come from a finished Sort node over the
 * partial plan.  GpuSort Collect takes them over, and GpuSort has the same ones.
 * All three nodes have the target list of the partial plan, resjunk entries
 * included.
 *
 * Details that matter: GpuSort Collect's parent is the upper relation, since that
 * of a base relation would give it the relation's gating quals.  It is marked
 * parallel aware, since the server sets up shared memory for such nodes only.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "pg_compat.h"
#include "plan/plan_node.h"
#include "settings.h"
#include "sort/sort_limits.h"

const CustomScanMethods gpusort_collect_methods = {
	.CustomName = "GpuSort Collect",
	.CreateCustomScanState = gpusort_create_collect_state
};

bool
gpusort_is_collect_plan(const Plan *plan)
{
	return IsA(plan, CustomScan) &&
		((const CustomScan *) plan)->methods == &gpusort_collect_methods;
}

Gather *
gpusort_plan_gather(const CustomScan *scan)
{
	Plan	   *child = scan->scan.plan.lefttree;

	return IsA(child, Gather) && gpusort_is_collect_plan(child->lefttree) ? (Gather *) child : NULL;
}

CustomScan *
gpusort_make_collect(const Sort *sort)
{
	CustomScan *scan = gpusort_make_plan(sort);

	scan->methods = &gpusort_collect_methods;
	scan->flags = 0;
	return scan;
}

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
	Gather	   *gather = linitial_node(Gather, custom_plans);
	CustomScan *collect = castNode(CustomScan, gather->plan.lefttree);
	CustomScan *scan = makeNode(CustomScan);

	gather->plan.targetlist = copyObject(collect->scan.plan.targetlist);
	*scan = *collect;
	scan->methods = &gpusort_scan_methods;
	scan->flags = best_path->flags;
	scan->scan.plan.targetlist = copyObject(collect->scan.plan.targetlist);
	scan->scan.plan.lefttree = &gather->plan;
	scan->custom_scan_tlist = copyObject(collect->custom_scan_tlist);
	return &scan->scan.plan;
}

static const CustomPathMethods collect_path_methods = {
	.CustomName = "GpuSort Collect",
	.PlanCustomPath = plan_collect_path
};

static const CustomPathMethods gather_path_methods = {
	.CustomName = "GpuSort",
	.PlanCustomPath = plan_gather_path
};

/*
 * What a participant does.  The partial path's rows are those of one participant,
 * the leader's own share of work considered, and so is its share of the cost.
 */
static Path *
make_collect_path(PlannerInfo *root, RelOptInfo *rel, Path *partial, double all_rows,
				  const GpuSortEstimate *estimate)
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
	cpath->custom_paths = list_make1(create_sort_path(root, rel, partial, root->sort_pathkeys, -1));
	cpath->methods = &collect_path_methods;
	return path;
}

static Path *
make_gather_path(PlannerInfo *root, RelOptInfo *rel, Path *partial, double all_rows,
				 const GpuSortEstimate *estimate)
{
	CustomPath *cpath = makeNode(CustomPath);
	Path	   *path = &cpath->path;
	Path	   *collect = make_collect_path(root, rel, partial, all_rows, estimate);
	double		gathered_rows = 0;
	Path	   *gather = (Path *) create_gather_path(root, rel, collect, partial->pathtarget, NULL,
													 &gathered_rows);

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = partial->pathtarget;
	path->rows = all_rows;
	gpusort_gathered_costs(estimate, gather->total_cost, &path->startup_cost,
						   &path->total_cost);
	gpusort_set_path_disabled(path, gather);
	path->pathkeys = root->sort_pathkeys;
	cpath->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE;
	cpath->custom_paths = list_make1(gather);
	cpath->methods = &gather_path_methods;
	return path;
}

List *
gpusort_make_gather_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *ordered_rel,
						  const GpuSortPathKeys *keys, double limit_rows)
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
			gpusort_estimate_path(root, partial, keys, limit_rows, &estimate))
			paths = lappend(paths,
							make_gather_path(root, ordered_rel, partial, all_rows, &estimate));
	}
	return paths;
}

/* The Gather returns what its child returns: no projection. */
void
gpusort_reference_gathered(Gather *gather)
{
	gather->plan.targetlist = gpusort_reference_columns(gather->plan.lefttree, OUTER_VAR);
}

Plan *
gpusort_make_gather_merge(const CustomScan *scan)
{
	Gather	   *gather = gpusort_plan_gather(scan);
	Sort	   *sort = gpusort_make_sort((CustomScan *) gather->plan.lefttree);
	GatherMerge *merge = makeNode(GatherMerge);

	sort->plan.parallel_aware = false;
	sort->plan.plan_rows = sort->plan.lefttree->plan_rows;

	merge->plan = scan->scan.plan;
	NodeSetTag(merge, T_GatherMerge);
	merge->plan.targetlist = scan->custom_scan_tlist;
	merge->plan.lefttree = &sort->plan;
	merge->num_workers = gather->num_workers;
	merge->rescan_param = gather->rescan_param;
	merge->initParam = gather->initParam;
	merge->numCols = sort->numCols;
	merge->sortColIdx = sort->sortColIdx;
	merge->sortOperators = sort->sortOperators;
	merge->collations = sort->collations;
	merge->nullsFirst = sort->nullsFirst;
	return &merge->plan;
}
