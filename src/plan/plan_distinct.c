/*
 * plan_distinct.c
 *		DISTINCT and DISTINCT ON above a GpuSort, competing by cost.
 *
 * The planner compares its hash table with a sort of its own, and with an incremental sort where an
 * index delivers some of the order.  If one of these is chosen, it can only be replaced as it is
 * (plan_replace.c).  So paths above our sorts are offered as well: over all rows, over the rows
 * that workers have made distinct among their own, and over slices of a sort that workers make
 * together (plan_paths_private.h), which keep equal rows together.
 *
 * Without such paths a cheap ORDER BY above would tip the balance in favour of a hash table of what
 * comes out of workers' hash tables.  That takes far longer than the planner thinks: rows that
 * leave one table in the order of their hash values cluster in the next one while it grows.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_paths_private.h"

/*
 * Returns the order to sort by.  With DISTINCT ON, ORDER BY says which of several equal rows is
 * returned.
 */
static List *
wanted_order(const PlannerInfo *root)
{
	if (root->parse->hasDistinctOn &&
		list_length(root->distinct_pathkeys) < list_length(root->sort_pathkeys))
		return root->sort_pathkeys;
	return root->distinct_pathkeys;
}

/*
 * Makes a Unique above a sorted path.  With DISTINCT ON, rows may have other columns, and be
 * fetched late.
 */
static Path *
make_unique_path(PlannerInfo *root, RelOptInfo *distinct_rel, Path *sorted, double distinct_rows)
{
	int			ncolumns = list_length(root->distinct_pathkeys);

	if (root->parse->hasDistinctOn)
		return gpusort_make_unique_path(root, distinct_rel, sorted, ncolumns, distinct_rows);
	return gpusort_make_unique_sorted_path(root, distinct_rel, sorted, ncolumns, distinct_rows);
}

/*
 * Makes paths that sort a relation's rows and make them distinct, a List of Path.  sorted_rel has
 * all rows, or those that workers have left of theirs.
 */
static List *
make_unique_paths(const GpuSortGroupedRows *grouped, RelOptInfo *sorted_rel)
{
	List	   *paths = gpusort_make_sorted_paths(grouped->root, sorted_rel, grouped->rel,
												  grouped->order, GPUSORT_NO_LIMIT);
	ListCell   *lc;

	foreach(lc, paths)
		lfirst(lc) = make_unique_path(grouped->root, grouped->rel, lfirst(lc), grouped->groups);
	return paths;
}

/*
 * Makes a path that makes a participant's slice distinct; `original` points to the number of
 * distinct rows of all slices.
 */
static Path *
make_sliced(const GpuSortSlices *slices, const void *original)
{
	double		distinct_rows = *(const double *) original;

	return make_unique_path(slices->root, slices->rel, slices->sort,
							clamp_row_est(distinct_rows * slices->fraction));
}

static List *
make_sliced_paths(const GpuSortGroupedRows *grouped, Cost *cost)
{
	GpuSortSlices slices = {.root = grouped->root, .rel = grouped->rel};

	if (!gpusort_plans_shared() || !grouped->rel->consider_parallel ||
		!gpusort_make_slices(&slices, grouped->input_rel, grouped->order,
							 list_length(grouped->pathkeys)))
		return NIL;
	return gpusort_offer_sliced(&slices, make_sliced, &grouped->groups, 0, cost);
}

void
gpusort_add_distinct_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *distinct_rel)
{
	const Path *cheapest = input_rel->cheapest_total_path;
	GpuSortGroupedRows grouped = {.root = root, .rel = distinct_rel, .input_rel = input_rel};
	RelOptInfo *partial_rel;
	List	   *paths = NIL;
	List	   *sliced = NIL;
	Cost		cost = GPUSORT_NO_SLICES;

	/* Without pathkeys there is only one distinct row. */
	if (root->distinct_pathkeys == NIL || distinct_rel->pathlist == NIL || cheapest == NULL ||
		pathkeys_contained_in(wanted_order(root), cheapest->pathkeys))
		return;
	grouped.groups = ((const Path *) linitial(distinct_rel->pathlist))->rows;
	grouped.pathkeys = root->distinct_pathkeys;
	grouped.order = wanted_order(root);
	if (gpusort_plan_groups_might_be_kept(&grouped, input_rel, 0))
	{
		paths = make_unique_paths(&grouped, input_rel);
		sliced = make_sliced_paths(&grouped, &cost);
	}
	partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_DISTINCT, NULL);
	if (partial_rel->pathlist != NIL && gpusort_plan_groups_might_be_kept(&grouped, partial_rel, 0))
		paths = list_concat(paths, make_unique_paths(&grouped, partial_rel));
	gpusort_offer_paths(&grouped, paths, sliced, cost);
}
