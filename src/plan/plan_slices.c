/*
 * plan_slices.c
 *		Paths above slices of a shared sort; see plan_slices.h.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/selfuncs.h"

#include "pg_compat/paths.h"
#include "plan/plan_pathkeys.h"
#include "plan/plan_shared.h"
#include "plan/plan_slices.h"

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
		input_rel->partial_pathlist == NIL)
		return false;
	sort.partial = (Path *) linitial(input_rel->partial_pathlist);
	sort.all_rows = slices->all_rows = clamp_row_est(input_rel->cheapest_total_path->rows);
	if (!gpusort_shared_worth_it(slices->root, &sort))
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
List *
gpusort_offer_sliced(const GpuSortSlices *slices, GpuSortMakePath make, const void *original,
					 Cost saved, Cost *cost)
{
	PlannerInfo *root = slices->root;
	RelOptInfo *rel = slices->rel;
	Path	   *gathered = make(slices, original);
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
		keep_partial_path(rel, make(slices, original));
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
