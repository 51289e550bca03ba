/*
 * plan_merge_join.c
 *		Merge joins above our sorts, competing by cost.
 *
 * The planner compares hash joins with merge joins over sorts of its own, which cost
 * several times as much as ours, so that what can be taken over in the finished plan has won
 * against the wrong costs.  So there are merge joins above our sorts as well, in the planner's
 * own sort orders: of both sides, or of one if the other has a path that comes in order.
 *
 * In the planner's parallel merge joins every worker reads and sorts the whole inner
 * side by itself.  Here the workers sort it together, once, and all of them read the
 * result (plan_shared.h); the outer side stays as it is, each sorting the rows it reads:
 *
 *		Gather
 *		  -> Merge Join
 *		    -> GpuSort, of a worker's outer rows
 *		      -> partial path
 *		    -> GpuSort Shared, all rows to each
 *		      -> partial path
 *
 * Semijoins are joined as such, not by making a side unique first.
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_join.h"
#include "plan/plan_merge_join.h"
#include "plan/plan_pathkeys.h"
#include "plan/plan_shared.h"
#include "plan/plan_sorted.h"
#include "plan/plan_undercharged.h"
#include "settings.h"

/* The pathkeys with the i-th one first, which is what the planner tries, too. */
static List *
with_first(List *pathkeys, int i)
{
	if (i == 0)
		return pathkeys;
	return lcons(list_nth(pathkeys, i), list_delete_nth_cell(list_copy(pathkeys), i));
}

/* ---------- all rows ---------- */

/*
 * Rows without a partner on the inner side are found only if all join clauses are compared in
 * merging, and the hook is not told whether the planner has found that they are.
 */
static bool
clauses_suffice(const GpuSortMergeJoin *join, const List *mergeclauses)
{
	ListCell   *lc;

	if (mergeclauses == NIL || !gpusort_returns_inner_rows(join->jointype))
		return mergeclauses != NIL;
	foreach(lc, join->extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);

		if (!RINFO_IS_PUSHED_DOWN(clause, join->joinrel->relids) &&
			!list_member_ptr(mergeclauses, clause))
			return false;
	}
	return true;
}

/* The relation's cheapest path above a sort of ours; NULL if it can come in order without. */
static Path *
make_sorted(PlannerInfo *root, RelOptInfo *rel, List *pathkeys)
{
	const Path *in_order = get_cheapest_path_for_pathkeys(rel->pathlist, pathkeys, NULL,
														  TOTAL_COST, false);
	Path	   *cheapest = NULL;
	ListCell   *lc;

	if (in_order != NULL &&
		(in_order == rel->cheapest_total_path || gpusort_is_sorted_remotely(in_order)))
		return NULL;
	foreach(lc, gpusort_make_sorted_paths(root, rel, rel, pathkeys, GPUSORT_NO_LIMIT))
	{
		Path	   *path = (Path *) lfirst(lc);

		if (cheapest == NULL || path->total_cost < cheapest->total_cost)
			cheapest = path;
	}
	return cheapest;
}

/*
 * Can joining all of these rows be cheaper than what there is already?  In a query of many tables
 * most joins are not even worth an estimate.
 */
static bool
is_promising(const GpuSortMergeJoin *join, const Path *outer, const RelOptInfo *innerrel)
{
	return gpusort_force || outer->total_cost + innerrel->cheapest_total_path->total_cost <
		gpusort_join_in_truth(join->joinrel->pathlist);
}

/*
 * A sort can go back to a mark at the price of reading a row again, so nothing is gained by
 * keeping its rows in a Material.
 */
static MergePath *
make_join_of(GpuSortMergeJoin *join, Path *outer, Path *inner, bool inner_is_sort)
{
	MergePath  *path;

	join->outer = outer;
	join->inner = inner;
	join->pathkeys = build_join_pathkeys(join->root, join->joinrel, join->jointype,
										 outer->pathkeys);
	path = gpusort_create_mergejoin_path(join);
	if (inner_is_sort)
		path->materialize_inner = false;
	return path;
}

/*
 * Join outer rows that come in order, by a sort of ours or without, with inner rows that we sort,
 * or with those that come in order.
 */
static List *
make_joins_of(GpuSortMergeJoin *join, Path *outer, RelOptInfo *innerrel, bool outer_is_sort)
{
	List	   *joins = NIL;
	List	   *innerkeys;
	Path	   *inner;

	join->mergeclauses = find_mergeclauses_for_outer_pathkeys(join->root, outer->pathkeys,
															  join->extra->mergeclause_list);
	if (!clauses_suffice(join, join->mergeclauses))
		return NIL;
	innerkeys = make_inner_pathkeys_for_merge(join->root, join->mergeclauses, outer->pathkeys);
	inner = make_sorted(join->root, innerrel, innerkeys);
	if (inner != NULL)
		joins = lappend(joins, make_join_of(join, outer, inner, true));
	inner = get_cheapest_path_for_pathkeys(innerrel->pathlist, innerkeys, NULL, TOTAL_COST, false);
	if (inner != NULL && outer_is_sort)
		joins = lappend(joins, make_join_of(join, outer, inner, false));
	return joins;
}

static int
compare_total_costs(const ListCell *a, const ListCell *b)
{
	return compare_path_costs(lfirst(a), lfirst(b), TOTAL_COST);
}

/* The cheapest one first: one that has taken a hash join's place looks cheaper than it is to those after it. */
static void
add_made_joins(const GpuSortMergeJoin *join, List *joins)
{
	ListCell   *lc;

	list_sort(joins, compare_total_costs);
	foreach(lc, joins)
	{
		Path	   *path = (Path *) lfirst(lc);

		gpusort_outbid_join(join->root, path, join->joinrel->pathlist);
		add_path(join->joinrel, path);
	}
}

/* By clauses that are none, the planner's own merge joins take their chance, but do not get cheaper by our sorts. */
static bool
clauses_are_orders(const List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!gpusort_clause_is_order(lfirst_node(RestrictInfo, lc)))
			return false;
	}
	return true;
}

/* Is a sort of the relation's rows thought of at all? */
static bool
has_many_rows(const RelOptInfo *rel)
{
	return rel->rows >= gpusort_min_rows || gpusort_force;
}

/*
 * Paths with parameters are those of nested loops.  Gating quals, which are rare, would come
 * between our nodes.
 */
static void
add_whole_joins(GpuSortMergeJoin *join, RelOptInfo *outerrel, RelOptInfo *innerrel,
				List *orders)
{
	PlannerInfo *root = join->root;
	List	   *joins = NIL;
	ListCell   *lc;

	if (!gpusort_is_mergeable(join->jointype) || root->hasPseudoConstantQuals ||
		outerrel->cheapest_total_path->param_info != NULL ||
		innerrel->cheapest_total_path->param_info != NULL)
		return;
	if (!is_promising(join, outerrel->cheapest_total_path, innerrel))
	{
		ereport(DEBUG2,
				(errmsg_internal("gpusort makes no merge joins of %.0f and %.0f estimated rows: reading these costs more than a join that there is",
								 outerrel->rows, innerrel->rows)));
		return;
	}
	for (int i = 0; i < list_length(orders) && has_many_rows(outerrel); i++)
	{
		Path	   *outer = make_sorted(root, outerrel, with_first(orders, i));

		if (outer != NULL)
			joins = list_concat(joins, make_joins_of(join, outer, innerrel, true));
	}
	foreach(lc, outerrel->pathlist)
	{
		Path	   *outer = (Path *) lfirst(lc);

		if (outer->pathkeys != NIL && outer->param_info == NULL && has_many_rows(innerrel) &&
			is_promising(join, outer, innerrel))
			joins = list_concat(joins, make_joins_of(join, outer, innerrel, false));
	}
	add_made_joins(join, joins);
}

/* ---------- rows of parallel workers ---------- */

/*
 * Rows without a partner on the outer side are found by the worker that has them; on the
 * inner side, none would know.
 */
static bool
can_be_partial(const GpuSortMergeJoin *join, const RelOptInfo *outerrel,
			   const RelOptInfo *innerrel)
{
	return (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT ||
			join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
		join->joinrel->consider_parallel && bms_is_empty(join->joinrel->lateral_relids) &&
		outerrel->partial_pathlist != NIL && innerrel->partial_pathlist != NIL &&
		has_many_rows(innerrel) && gpusort_plans_shared();
}

/*
 * Outer rows that don't come in order are sorted by each participant for itself: by us, or as the
 * planner does if they are few.
 */
static void
add_partial_join(GpuSortMergeJoin *join, RelOptInfo *outerrel, Path *outer, List *outerkeys)
{
	bool		sorted = pathkeys_contained_in(outerkeys, outer->pathkeys);
	MergePath  *path;

	join->outer = outer;
	if (!sorted)
		join->outer = gpusort_make_participants_path(join->root, outerrel, outer, outerkeys);
	if (join->outer == NULL)
	{
		join->outer = outer;
		join->outersortkeys = outerkeys;
	}
	join->pathkeys = build_join_pathkeys(join->root, join->joinrel, join->jointype,
										 sorted ? outer->pathkeys : outerkeys);
	path = gpusort_create_mergejoin_path(join);
	path->materialize_inner = false;
	gpusort_outbid_join(join->root, &path->jpath.path, join->joinrel->partial_pathlist);
	add_partial_path(join->joinrel, &path->jpath.path);
	join->outersortkeys = NIL;
}

/* Join in one order: the cheapest outer path, and those that come in this order. */
static void
add_partial_joins(GpuSortMergeJoin *join, RelOptInfo *outerrel, RelOptInfo *innerrel,
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
			add_partial_join(join, outerrel, outer, outerkeys);
	}
}

void
gpusort_add_merge_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							 RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	JoinPathExtraData own_extra = *extra;
	GpuSortMergeJoin join = {
		.root = root, .joinrel = joinrel, .jointype = jointype, .extra = &own_extra
	};
	List	   *orders;

	if (!gpusort_enabled || !gpusort_enable_order_by || !enable_mergejoin ||
		extra->mergeclause_list == NIL || (!has_many_rows(outerrel) && !has_many_rows(innerrel)) ||
		gpusort_plan_is_advised(root) || !clauses_are_orders(extra->mergeclause_list))
		return;

	if (gpusort_becomes_semijoin(root, &join.jointype, &outerrel, &innerrel, extra->sjinfo))
	{
		own_extra.inner_unique = false;
		own_extra.mergeclause_list = gpusort_find_join_clauses(&join, outerrel, innerrel);
		if (own_extra.mergeclause_list == NIL)
			return;
	}
	orders = select_outer_pathkeys_for_merge(root, own_extra.mergeclause_list, joinrel);
	add_whole_joins(&join, outerrel, innerrel, orders);
	for (int i = 0; i < list_length(orders) && can_be_partial(&join, outerrel, innerrel); i++)
		add_partial_joins(&join, outerrel, innerrel, with_first(orders, i));
}
