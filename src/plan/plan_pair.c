/*
 * plan_pair.c
 *		Two relations that the planner joins, and offering joins of ours; see plan_joins_private.h.
 */
#include "postgres.h"

#include <float.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_joins_private.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/* ---------- what joins cost in truth, and offering ours ---------- */

/*
 * A lowered cost is this share of what the undercharged join was charged.  It is close to 1, since
 * what is planned above a join is to see the cost that it would see without us.
 */
#define JUST_BELOW		0.985

static bool
is_our_join(const Path *path)
{
	return IsA(path, CustomPath) && strcmp(((const CustomPath *) path)->methods->CustomName,
										   GPUSORT_UNFINISHED_JOIN_NODE) == 0;
}

/*
 * Returns how much too little the inputs of a join have been charged.  A merge join whose inputs
 * have keys in different places does not read all of them, and costs less than they do.
 */
static Cost
lacking_of_inputs(PlannerInfo *root, const JoinPath *join)
{
	const Path *outer = join->outerjoinpath;
	const Path *inner = join->innerjoinpath;
	Cost		inputs = outer->total_cost + inner->total_cost;

	return (gpusort_lookup_extra_cost(root, outer) + gpusort_lookup_extra_cost(root, inner)) *
		(join->path.total_cost < inputs ? join->path.total_cost / inputs : 1);
}

/* Returns how much too little a join's path has been charged, by the planner or by us. */
static Cost
lacking_of_join(PlannerInfo *root, const Path *path)
{
	if (IsA(path, HashPath))
		return gpusort_hash_join_extra_cost((const HashPath *) path) +
			lacking_of_inputs(root, (const JoinPath *) path);
	if (IsA(path, MergePath))
		return lacking_of_inputs(root, (const JoinPath *) path);
	if (is_our_join(path))
		return ((const GpuSortJoinPath *) path)->cost - path->total_cost;
	return 0;
}

/*
 * Returns what the cheapest of these joins really costs, which is the first one without parameters:
 * the planner does not charge a hash join for waiting for its table.  Returns DBL_MAX if there is
 * none to compare with.
 */
static Cost
real_cost_of_cheapest(PlannerInfo *root, const List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (path->param_info == NULL)
			return path->total_cost + lacking_of_join(root, path);
	}
	return DBL_MAX;
}

/*
 * Returns what the join that really is the cheapest costs, which may have been charged more than
 * the first one.  sorting is added to the cost of paths that are not in this order, for a sort
 * above them.
 */
static Cost
cheapest_real_cost(PlannerInfo *root, const List *paths, List *order, Cost sorting)
{
	const Path *first = linitial(paths);
	Cost		cheapest = DBL_MAX;
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *path = (const Path *) lfirst(lc);
		Cost		cost = path->total_cost + lacking_of_join(root, path);

		if (!pathkeys_contained_in(order, path->pathkeys))
			cost += sorting;
		if (path->param_info == NULL && !gpusort_is_less_disabled(first, path))
			cheapest = Min(cheapest, cost);
	}
	return cheapest;
}

/*
 * Returns whether a path is the only join of this query and of the queries around it.  If so, its
 * cost hides no join below it, and no join above is misled.  A join by workers does not count,
 * since its rows are gathered above.
 */
static bool
is_only_join(const PlannerInfo *root, const Path *join)
{
	return root->query_level == 1 && join->parallel_workers == 0 &&
		bms_num_members(root->all_baserels) == 2;
}

/*
 * Returns whether all that the query does above its joins is a sort, which a join in its order
 * saves.
 */
static bool
saves_sort(const PlannerInfo *root, const Path *join)
{
	return root->sort_pathkeys != NIL && root->query_pathkeys == root->sort_pathkeys &&
		root->parse->distinctClause == NIL && root->limit_tuples < 0 &&
		pathkeys_contained_in(root->sort_pathkeys, join->pathkeys);
}

/*
 * Returns whether the query's only join really costs less than any other, with a sort of ours above
 * the other where our join saves one.
 */
static bool
is_best_join(PlannerInfo *root, RelOptInfo *joinrel, const Path *join, const List *paths)
{
	List	   *order = NIL;
	Cost		sorting = 0;

	if (saves_sort(root, join))
	{
		Path	   *first = linitial(paths);
		const Path *sorted = gpusort_make_participants_path(root, joinrel, first,
															root->sort_pathkeys);

		if (sorted != NULL)
		{
			order = root->sort_pathkeys;
			sorting = sorted->total_cost - first->total_cost;
		}
	}
	return join->total_cost < cheapest_real_cost(root, paths, order, sorting);
}

void
gpusort_outbid_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path)
{
	const List *paths = path->parallel_workers > 0 ? joinrel->partial_pathlist : joinrel->pathlist;
	const Path *cheapest = paths != NIL ? linitial(paths) : NULL;
	Cost		gain;
	Cost		below;

	if (cheapest == NULL || cheapest->param_info != NULL ||
		(!IsA(cheapest, HashPath) && !is_our_join(cheapest) &&
		 (!IsA(cheapest, MergePath) || lacking_of_join(root, cheapest) <= 0)))
		return;
	gain = real_cost_of_cheapest(root, paths) - path->total_cost;
	below = Min(path->total_cost, cheapest->total_cost * JUST_BELOW);
	if ((gain <= 0 || path->total_cost - below > gain) &&
		(!is_only_join(root, path) || !is_best_join(root, joinrel, path, paths)))
		return;
	path->total_cost = below;
	path->startup_cost = Min(path->startup_cost, path->total_cost);
}

void
gpusort_add_join(RelOptInfo *joinrel, Path *path)
{
	if (path->parallel_workers > 0)
		add_partial_path(joinrel, path);
	else
		add_path(joinrel, path);
}

void
gpusort_offer_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path)
{
	gpusort_outbid_join(root, joinrel, path);
	gpusort_add_join(joinrel, path);
}

/* ---------- the paths that there are ---------- */

/* The ratio up to which add_path() takes costs for the same. */
#define SAME_COST	1.01

static bool
is_dominated(const Path *path, const Path *old, bool startup_matters)
{
	if (old->param_info != NULL || gpusort_is_less_disabled(path, old) ||
		path->parallel_safe > old->parallel_safe)
		return false;
	if (path->total_cost < old->total_cost ||
		(path->startup_cost < old->startup_cost &&
		 (startup_matters || path->total_cost <= old->total_cost * SAME_COST)))
		return false;
	return pathkeys_contained_in(path->pathkeys, old->pathkeys);
}

bool
gpusort_might_be_kept(const RelOptInfo *rel, const Path *path)
{
	ListCell   *lc;

	foreach(lc, path->parallel_workers > 0 ? rel->partial_pathlist : rel->pathlist)
	{
		if (is_dominated(path, (const Path *) lfirst(lc), rel->consider_startup))
			return false;
	}
	return true;
}

bool
gpusort_plan_join_might_be_kept(const GpuSortMergeJoin *join, Cost startup_cost, Cost total_cost)
{
	Path		path = {
		.startup_cost = startup_cost,
		.total_cost = total_cost, .pathkeys = join->pathkeys,
		.parallel_workers = join->outer->parallel_workers,
		.parallel_safe = join->joinrel->consider_parallel
	};

	gpusort_join_path_disabled(&path, join->outer, join->inner);
	if (gpusort_might_be_kept(join->joinrel, &path))
		return true;
	gpusort_outbid_join(join->root, join->joinrel, &path);
	return gpusort_might_be_kept(join->joinrel, &path);
}

/* ---------- what ours cost at least ---------- */

typedef struct PairCosts
{
	/* what the ways of ours cost at least */
	Cost		both_sorted;
	Cost		outer_sorted;
	Cost		inner_sorted;
	Cost		partial;

	/* what they may cost at most */
	Cost		all_real_cost;	/* real cost of the cheapest join that there is */
	Cost		partial_real_cost;
	Cost		order;			/* what the order of the rows is worth in addition */
	/* what joining all tables of the query costs at most, with a Gather above what workers do */
	Cost		bound;
} PairCosts;

/*
 * Returns whether the pair could be merged by a clause that gives it the order that the query wants
 * in the end.
 */
static bool
is_order_wanted(const GpuSortPair *pair)
{
	const PlannerInfo *root = pair->join.root;
	const EquivalenceClass *wanted;
	ListCell   *lc;

	if (root->query_pathkeys == NIL)
		return false;
	wanted = linitial_node(PathKey, root->query_pathkeys)->pk_eclass;
	foreach(lc, pair->extra.mergeclause_list)
	{
		const RestrictInfo *clause = lfirst_node(RestrictInfo, lc);

		if (clause->left_ec == wanted || clause->right_ec == wanted)
			return true;
	}
	return pair->extra.mergeclause_list == NIL;
}

/*
 * Returns what the order of the rows is worth to the joins above, which save a sort of all of them.
 * If it is the order that the query wants, it is worth whatever it costs, since the joins above may
 * return many times as many rows in it.
 */
static Cost
worth_of_order(const GpuSortPair *pair)
{
	const RelOptInfo *joinrel = pair->join.joinrel;
	GpuSortLeastCost sort;

	if (is_order_wanted(pair))
		return DBL_MAX;
	gpusort_least_cost(joinrel->rows, joinrel->reltarget->width, false, &sort);
	return sort.collect_cost + sort.slot_cost + sort.rest_cost;
}

static bool
is_first_disabled(const List *paths)
{
	return paths != NIL && gpusort_is_disabled(linitial(paths));
}

/* Returns whether the first path, which is the cheapest, has parameters. */
static bool
has_parameters(const List *paths)
{
	return paths != NIL && ((const Path *) linitial(paths))->param_info != NULL;
}

static void
find_costs(GpuSortPair *pair, PairCosts *costs)
{
	const RelOptInfo *joinrel = pair->join.joinrel;
	const GpuSortLeastCosts *outer = gpusort_side_least_costs(pair->join.root, pair->outerrel);
	const GpuSortLeastCosts *inner = gpusort_side_least_costs(pair->join.root, pair->innerrel);

	costs->both_sorted = outer->sorted + inner->sorted;
	costs->outer_sorted = outer->sorted + inner->in_order;
	costs->inner_sorted = outer->in_order + inner->sorted;
	costs->partial = outer->partial + inner->partial;
	costs->all_real_cost = real_cost_of_cheapest(pair->join.root, joinrel->pathlist);
	costs->partial_real_cost = real_cost_of_cheapest(pair->join.root, joinrel->partial_pathlist);
	if (gpusort_force || is_first_disabled(joinrel->pathlist))
		costs->all_real_cost = costs->partial_real_cost = DBL_MAX;
	else if (is_first_disabled(joinrel->partial_pathlist))
		costs->partial_real_cost = DBL_MAX;
	costs->order = worth_of_order(pair);
	costs->bound = DBL_MAX;
	pair->max_input_cost = costs->order < DBL_MAX || !has_parameters(joinrel->pathlist) ?
		costs->all_real_cost : DBL_MAX;
}

static bool
is_promising(GpuSortPair *pair, const PairCosts *costs)
{
	Cost		most = Min(costs->all_real_cost + costs->order, costs->bound);
	Cost		most_partial = Min(costs->partial_real_cost + costs->order,
								   costs->bound - parallel_setup_cost);
	bool		whole = pair->outerrel->cheapest_total_path->total_cost +
		pair->innerrel->cheapest_total_path->total_cost < pair->max_input_cost;

	pair->both_sorted = whole && costs->both_sorted < most;
	pair->outer_sorted = whole && costs->outer_sorted < most;
	pair->inner_sorted = whole && costs->inner_sorted < most;
	pair->partial = costs->partial < most_partial && pair->join.joinrel->consider_parallel;
	return pair->both_sorted || pair->outer_sorted || pair->inner_sorted || pair->partial;
}

/* Returns what the cheapest of the ways that are still promising costs at least. */
static Cost
least_of(const GpuSortPair *pair, const PairCosts *costs)
{
	Cost		least = pair->partial ? costs->partial + parallel_setup_cost : DBL_MAX;

	if (pair->both_sorted)
		least = Min(least, costs->both_sorted);
	if (pair->outer_sorted)
		least = Min(least, costs->outer_sorted);
	if (pair->inner_sorted)
		least = Min(least, costs->inner_sorted);
	return least;
}

/*
 * Compares the ways with what joining all tables of the query costs at most, and returns whether
 * any is still promising.  That is not done where nothing is joined above, unless the query wants
 * few rows; nor for GEQO, which tries only some orders of joins and may not find any that costs as
 * little.
 */
static bool
is_within_bound(GpuSortPair *pair, PairCosts *costs)
{
	PlannerInfo *root = pair->join.root;

	if (gpusort_force || gpusort_plans_by_geqo(root) ||
		(root->limit_tuples <= 0 &&
		 bms_num_members(pair->join.joinrel->relids) >= bms_num_members(root->all_baserels)))
		return true;
	costs->bound = gpusort_plan_join_cost_limit(root, least_of(pair, costs));
	return is_promising(pair, costs);
}

/* ---------- by what ---------- */

List *
gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
						  const RelOptInfo *innerrel)
{
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, merge->extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		bool		outer_is_left = bms_is_subset(clause->left_relids, outerrel->relids);

		if (!clause->can_join || clause->mergeopfamilies == NIL ||
			!gpusort_clause_is_order(clause) ||
			(IS_OUTER_JOIN(merge->jointype) &&
			 RINFO_IS_PUSHED_DOWN(clause, merge->joinrel->relids)) ||
			!bms_is_subset(outer_is_left ? clause->right_relids : clause->left_relids,
						   innerrel->relids) ||
			(!outer_is_left && !bms_is_subset(clause->right_relids, outerrel->relids)))
			continue;
		clause->outer_is_left = outer_is_left;
		update_mergeclause_eclasses(merge->root, clause);
		if (!EC_MUST_BE_REDUNDANT(clause->left_ec) && !EC_MUST_BE_REDUNDANT(clause->right_ec))
			found = lappend(found, clause);
	}
	return found;
}

/*
 * Returns whether the pair is a semijoin that the planner makes in another way; if so, turns it
 * into the semijoin.
 */
static bool
becomes_semijoin(GpuSortPair *pair)
{
	const SpecialJoinInfo *sjinfo = pair->extra.sjinfo;
	RelOptInfo *few = pair->outerrel;
	RelOptInfo *many = pair->innerrel;

	if (sjinfo == NULL || sjinfo->jointype != JOIN_SEMI || pair->join.jointype == JOIN_SEMI)
		return false;
	if (!bms_is_subset(sjinfo->min_righthand, many->relids))
	{
		few = pair->innerrel;
		many = pair->outerrel;
	}
	if (!bms_is_subset(sjinfo->min_lefthand, few->relids) ||
		!bms_is_subset(sjinfo->min_righthand, many->relids))
		return false;
	pair->outerrel = few;
	pair->innerrel = gpusort_relation_not_unique(pair->join.root, many);
	pair->join.jointype = JOIN_SEMI;
	return true;
}

/* Returns whether the query has a use for the order that a join by these pathkeys comes in. */
static bool
is_order_useful(const GpuSortPair *pair)
{
	const GpuSortMergeJoin *join = &pair->join;

	return list_length(pair->orders) > 1 ||
		build_join_pathkeys(join->root, join->joinrel, join->jointype, pair->orders) != NIL;
}

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

/*
 * Finds the clauses that the pair could be merged by, and the pathkeys.  The planner has found the
 * clauses already, unless its merge joins are switched off.  A clause of which the two sides have
 * no common order is left to PostgreSQL's merge joins, which fail if they notice.
 */
static bool
find_orders(GpuSortPair *pair)
{
	if (pair->extra.mergeclause_list == NIL || !clauses_are_orders(pair->extra.mergeclause_list))
		pair->extra.mergeclause_list = gpusort_find_join_clauses(&pair->join, pair->outerrel,
																 pair->innerrel);
	if (pair->extra.mergeclause_list == NIL)
		return false;
	pair->orders = select_outer_pathkeys_for_merge(pair->join.root, pair->extra.mergeclause_list,
												   pair->join.joinrel);
	return true;
}

bool
gpusort_look_at_pair(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					 RelOptInfo *innerrel, JoinType jointype, const JoinPathExtraData *extra,
					 GpuSortPair *pair)
{
	PairCosts	costs;

	if (!gpusort_enabled || !gpusort_enable_order_by || extra->restrictlist == NIL ||
		(!gpusort_has_many_rows(outerrel) && !gpusort_has_many_rows(innerrel)) ||
		gpusort_plan_is_advised(root))
		return false;
	pair->join = (GpuSortMergeJoin) {.root = root, .joinrel = joinrel, .jointype = jointype,
									 .extra = &pair->extra};
	pair->extra = *extra;
	pair->outerrel = outerrel;
	pair->innerrel = innerrel;
	if (becomes_semijoin(pair))
	{
		pair->extra.inner_unique = false;
		pair->extra.mergeclause_list = NIL;
	}
	if (!gpusort_is_mergeable(pair->join.jointype))
		return false;
	find_costs(pair, &costs);
	if (!is_promising(pair, &costs) || !is_within_bound(pair, &costs))
	{
		ereport(DEBUG2,
				(errmsg_internal("gpusort makes no joins of %.0f and %.0f estimated rows: sorting these costs more than a join that there is",
								 outerrel->rows, innerrel->rows)));
		return false;
	}
	if (!find_orders(pair))
		return false;
	if (!is_order_useful(pair))
		costs.order = 0;
	return is_promising(pair, &costs);
}
