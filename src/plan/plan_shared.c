/*
 * plan_shared.c
 *		Making the plan node GpuSort Shared (plan_node.h), and paths above slices of it; see
 *		plan_paths_private.h.
 *
 * As with the other nodes, the columns are taken from a Sort node that the planner makes of a path
 * below.  Redundant pathkeys make no column of it, so a path that is to be sliced must be given
 * pathkeys each of which makes one.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/selfuncs.h"

#include "pg_compat/paths.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
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
		gpusort_sort_pool_limit() > 0;
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
	return sort->slice_columns > 0 ? gpusort_cost_pool_suffices(&sort->estimate, participants)
		: gpusort_fits_pool(&sort->estimate, participants);
}

bool
gpusort_plan_shared_worth_it(PlannerInfo *root, GpuSortSharedSort *sort)
{
	const Path *partial = sort->partial;
	const char *reason;

	return partial->parallel_workers > 0 && partial->param_info == NULL &&
		estimate_shared(root, sort, &reason) &&
		gpusort_worth_it(sort->all_rows, partial->pathtarget->width, GPUSORT_NO_LIMIT,
						 &sort->estimate, &reason) &&
		(gpusort_force || pool_suffices(sort, partial->parallel_workers + 1));
}

/* ---------- paths above slices ---------- */

/*
 * What the leader spends on a row that comes through a Gather: 40 ns (docs/performance.md, "Sorts
 * that workers make together").  parallel_tuple_cost is 250, which keeps the planner from having
 * workers return many rows.
 */
#define GATHERED_ROW_COST 0.016

int
gpusort_count_leading_keys(PlannerInfo *root, List *clauses, List *pathkeys)
{
	List	   *wanted = make_pathkeys_for_sortclauses(root, clauses, root->processed_tlist);
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		if (!gpusort_has_class(wanted, lfirst_node(PathKey, lc)->pk_eclass))
			return foreach_current_index(lc);
	}
	return list_length(pathkeys);
}

/* Returns how many groups there are if the rows of each are equal in so many leading columns. */
static double
estimate_groups(PlannerInfo *root, double all_rows, List *pathkeys, int slice_columns)
{
	List	   *expressions = NIL;

	for (int i = 0; i < slice_columns; i++)
	{
		PathKey    *pathkey = list_nth_node(PathKey, pathkeys, i);
		EquivalenceMember *em = linitial_node(EquivalenceMember, pathkey->pk_eclass->ec_members);

		expressions = lappend(expressions, em->em_expr);
	}
	return estimate_num_groups(root, expressions, all_rows, NULL, NULL);
}

bool
gpusort_make_slices(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
					int slice_columns)
{
	GpuSortSharedSort sort = {.pathkeys = pathkeys, .slice_columns = slice_columns};

	if (slice_columns == 0 || !input_rel->consider_parallel ||
		input_rel->partial_pathlist == NIL || !gpusort_plans_shared())
		return false;
	sort.partial = (Path *) linitial(input_rel->partial_pathlist);
	sort.all_rows = slices->all_rows = clamp_row_est(input_rel->cheapest_total_path->rows);
	if (!gpusort_plan_shared_worth_it(slices->root, &sort))
		return false;
	slices->fraction = Min(sort.partial->rows / slices->all_rows, 1);
	if (slices->groups == 0)
		slices->groups = estimate_groups(slices->root, slices->all_rows, pathkeys, slice_columns);
	slices->share = Max(slices->fraction, 1 / slices->groups);
	slices->sort = gpusort_make_shared_path(slices->root, slices->rel, &sort);
	return true;
}

void
gpusort_share_path(const GpuSortSlices *slices, Path *copy, const Path *old_input, Path *input)
{
	Cost		startup = Max(copy->startup_cost - old_input->startup_cost, 0);
	Cost		total = copy->total_cost - old_input->total_cost;

	copy->parallel_aware = false;
	copy->parallel_safe = true;
	copy->parallel_workers = input->parallel_workers;
	copy->pathkeys = input->pathkeys;
	copy->rows = clamp_row_est(copy->rows * slices->fraction);
	copy->total_cost = input->total_cost + total * slices->share;
	copy->startup_cost = Min(input->startup_cost + startup * slices->share, copy->total_cost);
	gpusort_copy_path_disabled(copy, input);
}

static Path *
lower_cost(Path *gather, const Path *partial, Cost saved)
{
	gather->total_cost = Max(gather->total_cost - saved, partial->total_cost);
	gather->startup_cost = Min(gather->startup_cost, gather->total_cost);
	return gather;
}

/*
 * Adds a partial path as add_partial_path() would, but frees none: the planner's own Gather may be
 * above one already, if a partitioned relation is grouped partition by partition.
 */
static void
keep_partial_path(RelOptInfo *rel, Path *path)
{
	int			at = 0;
	ListCell   *lc;

	foreach(lc, rel->partial_pathlist)
	{
		const Path *other = (const Path *) lfirst(lc);

		if (gpusort_path_costs_less(path, other))
			break;
		if (pathkeys_contained_in(path->pathkeys, other->pathkeys))
			return;
		at++;
	}
	rel->partial_pathlist = list_insert_nth(rel->partial_pathlist, at, path);
}

/*
 * The Gather has a partial path of its own, since add_partial_path() frees paths that it does not
 * keep.  If the target list has set-returning functions, no partial path is offered: the functions
 * will be evaluated above it, and may be parallel unsafe.
 */
static List *
offer_slices(const GpuSortSlices *slices, Cost *cost)
{
	PlannerInfo *root = slices->root;
	RelOptInfo *rel = slices->rel;
	Cost		saved = slices->saved_row_cost * slices->all_rows * (1 - slices->share);
	Path	   *gathered = slices->make(slices, slices->original);
	double		rows = clamp_row_est(gathered->rows / slices->fraction);
	Path	   *gather = (Path *) create_gather_path(root, rel, gathered, gathered->pathtarget,
													 NULL, &rows);
	Cost		overcharged = rows * Max(parallel_tuple_cost - GATHERED_ROW_COST, 0);
	List	   *paths;

	*cost = Max(gather->total_cost - saved - overcharged, gathered->total_cost);
	paths = list_make1(lower_cost(gather, gathered, saved));
	if (root->sort_pathkeys != NIL &&
		pathkeys_contained_in(root->sort_pathkeys, gathered->pathkeys))
		paths = lappend(paths,
						lower_cost((Path *) create_gather_merge_path(root, rel, gathered,
																	 gathered->pathtarget,
																	 root->sort_pathkeys, NULL,
																	 &rows),
								   gathered, saved));
	if (!root->parse->hasTargetSRFs)
	{
		rel->consider_parallel = true;
		keep_partial_path(rel, slices->make(slices, slices->original));
	}
	return paths;
}

List *
gpusort_offer_sliced(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
					 int slice_columns, Cost *cost)
{
	*cost = GPUSORT_NO_SLICES;
	return gpusort_make_slices(slices, input_rel, pathkeys, slice_columns)
		? offer_slices(slices, cost) : NIL;
}

List *
gpusort_make_whole_paths(const GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys)
{
	GpuSortSlices all = *slices;
	List	   *paths = gpusort_make_sorted_paths(all.root, input_rel, all.rel, pathkeys,
												  GPUSORT_NO_LIMIT);
	ListCell   *lc;

	all.fraction = all.share = 1;
	foreach(lc, paths)
	{
		all.sort = (Path *) lfirst(lc);
		all.all_rows = all.sort->rows;
		lfirst(lc) = all.make(&all, all.original);
	}
	return paths;
}

List *
gpusort_cheaper_paths(List *paths, Cost sliced)
{
	List	   *cheaper = NIL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		if (((const Path *) lfirst(lc))->total_cost < sliced)
			cheaper = lappend(cheaper, lfirst(lc));
	}
	return cheaper;
}
