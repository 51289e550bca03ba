/*
 * plan_merge_join.c
 *		Merge joins above our sorts, competing by cost.
 *
 * The planner compares hash joins with merge joins over sorts of its own, which cost several times
 * as much as ours.  So what can be taken over in the finished plan is only what has won by the
 * wrong costs, and merge joins above our sorts are offered as well, in the planner's own sort
 * orders: with sorts of both sides, or of one if the other has a path that comes in order.
 *
 * In the planner's parallel merge joins every worker reads and sorts the whole inner side by
 * itself.  Here the workers sort it together, once, and all of them read the result
 * (plan_node.h).  Of the outer side, each worker sorts the rows that it reads, as in the
 * planner's plans:
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
#include "plan/plan_joins_private.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/* Returns the pathkeys with the i-th one first, which is what the planner tries, too. */
static List *
with_first(List *pathkeys, int i)
{
	if (i == 0)
		return pathkeys;
	return lcons(list_nth(pathkeys, i), list_delete_nth_cell(list_copy(pathkeys), i));
}

/* ---------- all rows ---------- */

/*
 * Returns whether these clauses suffice to join by.  Inner rows without a partner are found only if
 * all join clauses are compared in merging, and the hook is not told whether the planner has found
 * that they are.
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

/*
 * Returns the relation's cheapest path above a sort of ours, or NULL if other servers deliver this
 * order.
 */
static Path *
make_sorted(PlannerInfo *root, RelOptInfo *rel, List *pathkeys, const Path *in_order)
{
	return in_order != NULL && gpusort_is_sorted_remotely(in_order) ? NULL :
		gpusort_side_sorted(gpusort_side(root, rel, pathkeys));
}

/* A merge join that is being considered. */
typedef struct MergeIdea
{
	GpuSortMergeJoin join;
	bool		inner_is_sort;
	JoinCostWorkspace costs;
} MergeIdea;

/* Merge joins of a pair, and the inner side of those that have this leading outer key. */
typedef struct MergeIdeas
{
	const GpuSortPair *pair;
	List	   *paths;
	const PathKey *key;
	List	   *clauses;
	Path	   *inner_in_order;
	Path	   *inner_sorted;
} MergeIdeas;

/*
 * Returns whether it is worth making a path.  Computes its costs, apart from what the planner adds
 * for each pair of rows.
 */
static bool
estimate_join(MergeIdea *idea, List *outerkeys)
{
	GpuSortMergeJoin *join = &idea->join;
	Cost		startup_cost = join->outer->startup_cost + join->inner->startup_cost;

	join->pathkeys = build_join_pathkeys(join->root, join->joinrel, join->jointype, outerkeys);
	if (!gpusort_plan_join_might_be_kept(join, startup_cost, startup_cost))
		return false;
	gpusort_initial_mergejoin_cost(join, &idea->costs);
	return gpusort_plan_join_might_be_kept(join, idea->costs.startup_cost, idea->costs.total_cost);
}

/*
 * A sort can go back to a mark at the price of reading a row again, so nothing is gained by keeping
 * its rows in a Material.
 */
static MergePath *
make_join(MergeIdea *idea)
{
	MergePath  *path = gpusort_create_mergejoin_path(&idea->join, &idea->costs);

	if (idea->inner_is_sort)
		path->materialize_inner = false;
	return path;
}

static void
consider(MergeIdeas *ideas, Path *outer, Path *inner, bool inner_is_sort)
{
	MergeIdea	idea = {.join = ideas->pair->join, .inner_is_sort = inner_is_sort};

	idea.join.mergeclauses = ideas->clauses;
	idea.join.outer = outer;
	idea.join.inner = inner;
	if (estimate_join(&idea, outer->pathkeys))
		ideas->paths = lappend(ideas->paths, make_join(&idea));
}

/*
 * Finds the clauses to join outer rows in this order by, and the inner side in the corresponding
 * order: above a sort of ours, or without.  If there is one clause only, the result holds for all
 * outer paths with this leading key.
 */
static bool
look_at_inner_side(MergeIdeas *ideas, List *outerkeys)
{
	const GpuSortPair *pair = ideas->pair;
	PlannerInfo *root = pair->join.root;
	List	   *clauses = pair->extra.mergeclause_list;
	List	   *innerkeys;

	if (list_length(clauses) == 1 && ideas->key == linitial(outerkeys))
		return ideas->clauses != NIL;
	ideas->key = linitial(outerkeys);
	ideas->clauses = find_mergeclauses_for_outer_pathkeys(root, outerkeys, clauses);
	if (!clauses_suffice(&pair->join, ideas->clauses))
		ideas->clauses = NIL;
	if (ideas->clauses == NIL)
		return false;
	innerkeys = make_inner_pathkeys_for_merge(root, ideas->clauses, outerkeys);
	ideas->inner_in_order = get_cheapest_path_for_pathkeys(pair->innerrel->pathlist, innerkeys,
														   NULL, TOTAL_COST, false);
	ideas->inner_sorted = NULL;
	if (pair->both_sorted || pair->inner_sorted)
		ideas->inner_sorted = make_sorted(root, pair->innerrel, innerkeys, ideas->inner_in_order);
	return true;
}

/* Considers joining outer rows that we sort with inner rows that we sort, or that come in order. */
static void
consider_sorted(MergeIdeas *ideas, List *outerkeys)
{
	const GpuSortPair *pair = ideas->pair;
	RelOptInfo *outerrel = pair->outerrel;
	Path	   *in_order = get_cheapest_path_for_pathkeys(outerrel->pathlist, outerkeys, NULL,
														  TOTAL_COST, false);
	Path	   *outer = make_sorted(pair->join.root, outerrel, outerkeys, in_order);

	if (outer == NULL || !look_at_inner_side(ideas, outer->pathkeys))
		return;
	if (ideas->inner_sorted != NULL && pair->both_sorted)
		consider(ideas, outer, ideas->inner_sorted, true);
	if (ideas->inner_in_order != NULL && pair->outer_sorted)
		consider(ideas, outer, ideas->inner_in_order, false);
}

/* Considers joining outer rows that come in order with inner rows that we sort. */
static void
consider_ordered(MergeIdeas *ideas)
{
	const GpuSortPair *pair = ideas->pair;
	Cost		most = pair->max_input_cost - pair->innerrel->cheapest_total_path->total_cost;
	ListCell   *lc;

	foreach(lc, pair->outerrel->pathlist)
	{
		Path	   *outer = (Path *) lfirst(lc);

		if (outer->pathkeys != NIL && outer->param_info == NULL && outer->total_cost < most &&
			look_at_inner_side(ideas, outer->pathkeys) && ideas->inner_sorted != NULL)
			consider(ideas, outer, ideas->inner_sorted, true);
	}
}

static int
compare_total_costs(const ListCell *a, const ListCell *b)
{
	return compare_path_costs(lfirst(a), lfirst(b), TOTAL_COST);
}

/*
 * Adds the paths, the cheapest one first: one that has taken a hash join's place looks cheaper than
 * it is to the paths added after it.
 */
static void
add_joins(const GpuSortMergeJoin *join, List *paths)
{
	ListCell   *lc;

	list_sort(paths, compare_total_costs);
	foreach(lc, paths)
		gpusort_offer_join(join->root, join->joinrel, (Path *) lfirst(lc));
}

/*
 * Adds merge joins of all rows.  Paths with parameters are left out, since they belong to nested
 * loops; and so are queries with gating quals, which are rare and would come between our nodes.
 */
static void
add_whole_joins(const GpuSortPair *pair)
{
	MergeIdeas	ideas = {.pair = pair};

	if (pair->join.root->hasPseudoConstantQuals ||
		pair->outerrel->cheapest_total_path->param_info != NULL ||
		pair->innerrel->cheapest_total_path->param_info != NULL)
		return;
	for (int i = 0; i < list_length(pair->orders) && (pair->both_sorted || pair->outer_sorted); i++)
		consider_sorted(&ideas, with_first(pair->orders, i));
	if (pair->inner_sorted)
		consider_ordered(&ideas);
	add_joins(&pair->join, ideas.paths);
}

/* ---------- rows of parallel workers ---------- */

/*
 * Returns whether workers can make merge joins of the pair.  An outer row without a partner is
 * found by the worker that has it; an inner row without a partner would be found by none.
 */
static bool
can_be_partial(const GpuSortPair *pair)
{
	const GpuSortMergeJoin *join = &pair->join;

	return pair->partial && (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT ||
							 join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
		bms_is_empty(join->joinrel->lateral_relids) && pair->outerrel->partial_pathlist != NIL &&
		pair->innerrel->partial_pathlist != NIL && gpusort_has_many_rows(pair->innerrel) &&
		gpusort_plans_shared();
}

/*
 * Adds a partial merge join with this outer path.  Outer rows that don't come in order are sorted
 * by each participant for itself: by us, or as the planner does if they are few.
 */
static void
add_partial_join(const GpuSortMergeJoin *shared, GpuSortSide *side, Path *outer, List *outerkeys)
{
	MergeIdea	idea = {.join = *shared, .inner_is_sort = true};
	GpuSortMergeJoin *join = &idea.join;
	bool		sorted = pathkeys_contained_in(outerkeys, outer->pathkeys);
	MergePath  *path;

	join->outer = outer;
	if (!sorted)
		join->outer = gpusort_side_participants_path(side, outer);
	if (join->outer == NULL)
	{
		join->outer = outer;
		join->outersortkeys = outerkeys;
	}
	if (!estimate_join(&idea, sorted ? outer->pathkeys : outerkeys))
		return;
	path = make_join(&idea);
	gpusort_offer_join(join->root, join->joinrel, &path->jpath.path);
}

/*
 * Adds partial merge joins in one order: of the cheapest outer path, and of those that come in this
 * order.
 */
static void
add_partial_joins(const GpuSortPair *pair, List *outerkeys)
{
	GpuSortMergeJoin join = pair->join;
	GpuSortSide *outer_side;
	GpuSortSide *inner_side;
	const GpuSortSharedSort *sort;
	List	   *innerkeys;
	ListCell   *lc;

	join.mergeclauses = find_mergeclauses_for_outer_pathkeys(join.root, outerkeys,
															  join.extra->mergeclause_list);
	innerkeys = make_inner_pathkeys_for_merge(join.root, join.mergeclauses, outerkeys);
	inner_side = gpusort_side(join.root, pair->innerrel, innerkeys);
	sort = gpusort_side_shared(inner_side, linitial(pair->innerrel->partial_pathlist));
	if (sort == NULL)
		return;
	join.inner = gpusort_side_shared_path(inner_side, sort);
	outer_side = gpusort_side(join.root, pair->outerrel, outerkeys);
	foreach(lc, pair->outerrel->partial_pathlist)
	{
		Path	   *outer = (Path *) lfirst(lc);

		if (foreach_current_index(lc) == 0 || pathkeys_contained_in(outerkeys, outer->pathkeys))
			add_partial_join(&join, outer_side, outer, outerkeys);
	}
}

void
gpusort_add_merge_join_paths(const GpuSortPair *pair)
{
	if (!enable_mergejoin)
		return;
	add_whole_joins(pair);
	for (int i = 0; i < list_length(pair->orders) && can_be_partial(pair); i++)
		add_partial_joins(pair, with_first(pair->orders, i));
}
