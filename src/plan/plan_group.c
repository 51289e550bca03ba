/*
 * plan_group.c
 *		Aggregates in parallel workers that can't be computed in parts.
 *
 * The planner has each worker compute an aggregate's state for the rows that it has read, and the
 * leader combine the states.  Aggregates with DISTINCT or ORDER BY, ordered sets, and aggregates
 * without a combining function leave everything to the leader.  If the workers' rows are sorted
 * together and dealt out in slices that cut no group (plan_slices.h), each worker computes the
 * final values of whole groups.
 *
 * The planner's cheapest path of those that group sorted rows is copied.  For other aggregates it
 * will have found something cheaper than any of these, as a rule.
 */
#include "postgres.h"

#include "plan/plan_group.h"
#include "plan/plan_shared.h"
#include "plan/plan_slices.h"

/* Returns the planner's cheapest path that groups all rows, coming in order, or NULL. */
static const AggPath *
find_cheapest(const RelOptInfo *grouped_rel)
{
	const AggPath *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		const AggPath *path = (const AggPath *) lfirst(lc);

		if (IsA(path, AggPath) && path->aggstrategy == AGG_SORTED &&
			path->aggsplit == AGGSPLIT_SIMPLE &&
			(cheapest == NULL || path->path.total_cost < cheapest->path.total_cost))
			cheapest = path;
	}
	return cheapest;
}

static Path *
copy_grouping(const GpuSortSlices *slices, const void *original)
{
	const AggPath *grouping = original;
	AggPath    *copy = makeNode(AggPath);

	*copy = *grouping;
	copy->subpath = slices->sort;
	copy->numGroups = Max(copy->numGroups * slices->share, 1);
	gpusort_share_path(slices, &copy->path, grouping->subpath, copy->subpath);
	return &copy->path;
}

List *
gpusort_make_group_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						 Cost *cost)
{
	const AggPath *grouping;
	GpuSortSlices slices = {.root = root, .rel = grouped_rel};
	List	   *pathkeys;

	*cost = GPUSORT_NO_SLICES;
	if (!gpusort_plans_shared() || !grouped_rel->consider_parallel ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL)
		return NIL;
	grouping = find_cheapest(grouped_rel);
	if (grouping == NULL)
		return NIL;

	/* Input that is in order anyway may be in order by more columns than are needed. */
	pathkeys = list_truncate(list_copy(grouping->subpath->pathkeys),
							 list_length(root->group_pathkeys));
	if (!gpusort_make_slices(&slices, input_rel, pathkeys,
							 gpusort_count_leading_keys(root, grouping->groupClause, pathkeys)))
		return NIL;
	return gpusort_offer_sliced(&slices, copy_grouping, grouping, 0, cost);
}
