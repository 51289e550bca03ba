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

/* Makes a path that makes rows, or a participant's slice, distinct. */
static Path *
make_path(const GpuSortSlices *slices, const void *original)
{
	const GpuSortGroupedRows *grouped = original;

	return make_unique_path(slices->root, slices->rel, slices->sort,
							clamp_row_est(grouped->groups * slices->fraction));
}

void
gpusort_add_distinct_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *distinct_rel)
{
	const Path *cheapest = input_rel->cheapest_total_path;
	GpuSortGroupedRows grouped = {.root = root, .rel = distinct_rel, .input_rel = input_rel};
	GpuSortSlices slices = {
		.root = root, .rel = distinct_rel, .make = make_path, .original = &grouped
	};
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
		paths = gpusort_make_whole_paths(&slices, input_rel, grouped.order);
		if (distinct_rel->consider_parallel)
			sliced = gpusort_offer_sliced(&slices, input_rel, grouped.order,
										  list_length(grouped.pathkeys), &cost);
	}
	partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_DISTINCT, NULL);
	if (partial_rel->pathlist != NIL && gpusort_plan_groups_might_be_kept(&grouped, partial_rel, 0))
		paths = list_concat(paths,
							gpusort_make_whole_paths(&slices, partial_rel, grouped.order));
	gpusort_offer_paths(&grouped, paths, sliced, cost);
}
