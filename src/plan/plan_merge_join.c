/*
 * plan_merge_join.c
 *		Merge joins whose inner side parallel workers sort together.
 *
 * In the planner's parallel merge joins every worker reads and sorts the whole inner
 * side by itself.  Here the workers sort it together, once, and all of them read the
 * result (plan_shared.h); the outer side stays as it is, each sorting the rows it reads:
 *
 *		Gather
 *		  -> Merge Join
 *		    -> Sort, of a worker's outer rows
 *		      -> partial path
 *		    -> GpuSort Shared, all rows to each
 *		      -> partial path
 *
 * The paths compete with those of the planner, for the same kinds of joins for which it
 * considers partial merge joins, and in the same sort orders.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "pg_compat.h"
#include "plan/plan_merge_join.h"
#include "plan/plan_shared.h"
#include "settings.h"

/*
 * Rows without a partner on the outer side are found by the worker that has them; on the
 * inner side, none would know.
 */
static bool
can_be_partial(JoinType jointype)
{
	return jointype == JOIN_INNER || jointype == JOIN_LEFT || jointype == JOIN_SEMI ||
		jointype == JOIN_ANTI;
}

/* The pathkeys with the i-th one first, which is what the planner tries, too. */
static List *
with_first(List *pathkeys, int i)
{
	if (i == 0)
		return pathkeys;
	return lcons(list_nth(pathkeys, i), list_delete_nth_cell(list_copy(pathkeys), i));
}

/*
 * The inner side can go back to a mark at the price of reading a row again, so nothing
 * is gained by keeping rows in a Material.
 */
static void
add_merge_join(GpuSortMergeJoin *join, Path *outer, List *outerkeys)
{
	bool		sorted = pathkeys_contained_in(outerkeys, outer->pathkeys);
	MergePath  *path;

	join->outer = outer;
	join->outersortkeys = sorted ? NIL : outerkeys;
	join->pathkeys = build_join_pathkeys(join->root, join->joinrel, join->jointype,
										 sorted ? outer->pathkeys : outerkeys);
	path = gpusort_create_mergejoin_path(join);
	path->materialize_inner = false;
	add_partial_path(join->joinrel, &path->jpath.path);
}

/* Join in one order: the cheapest outer path, and those that come in this order. */
static void
add_merge_joins(GpuSortMergeJoin *join, RelOptInfo *outerrel, RelOptInfo *innerrel,
				List *outerkeys)
{
	GpuSortSharedSort sort = {
		.partial = (Path *) linitial(innerrel->partial_pathlist),
		.all_rows = clamp_row_est(innerrel->rows)
	};
	ListCell   *lc;

	join->mergeclauses = find_mergeclauses_for_outer_pathkeys(join->root, outerkeys,
															  join->extra->mergeclause_list);
	sort.pathkeys = make_inner_pathkeys_for_merge(join->root, join->mergeclauses, outerkeys);
	if (!gpusort_shared_worth_it(&sort))
		return;
	join->inner = gpusort_make_shared_path(join->root, innerrel, &sort);
	foreach(lc, outerrel->partial_pathlist)
	{
		Path	   *outer = (Path *) lfirst(lc);

		if (foreach_current_index(lc) == 0 || pathkeys_contained_in(outerkeys, outer->pathkeys))
			add_merge_join(join, outer, outerkeys);
	}
}

void
gpusort_add_merge_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	GpuSortMergeJoin join = {
		.root = root, .joinrel = joinrel, .jointype = jointype, .extra = extra
	};
	List	   *pathkeys;

	if (!enable_mergejoin || extra->mergeclause_list == NIL || !can_be_partial(jointype) ||
		!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) ||
		outerrel->partial_pathlist == NIL || innerrel->partial_pathlist == NIL ||
		(innerrel->rows < gpusort_min_rows && !gpusort_force) ||
		!gpusort_plans_shared() || gpusort_plan_is_advised(root))
		return;

	pathkeys = select_outer_pathkeys_for_merge(root, extra->mergeclause_list, joinrel);
	for (int i = 0; i < list_length(pathkeys); i++)
		add_merge_joins(&join, outerrel, innerrel, with_first(pathkeys, i));
}
