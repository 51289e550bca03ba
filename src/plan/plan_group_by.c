/*
 * plan_group_by.c
 *		GROUP BY above a GpuSort, competing by cost.
 *
 * The planner compares its hash table with a sort of its own, and with an incremental sort where an
 * index delivers some of the order.  What can be taken over in the finished plan is only what has
 * won against that sort, which costs more than ours.  So paths above our sorts are offered as well:
 * over all rows, and over the groups that workers have made of their rows.
 *
 * Grouping sets of which some come in order, as those of a ROLLUP do, have a copy of the planner's
 * own path with another input, since that path knows how each set is made.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_aggregate_private.h"
#include "plan/plan_paths_private.h"
#include "settings.h"

/* ---------- aggregates in workers that can't be computed in parts ---------- */

/*
 * The planner has each worker compute an aggregate's state for the rows that it has read, and the
 * leader combine the states.  Aggregates with DISTINCT or ORDER BY, ordered sets, and aggregates
 * without a combining function leave everything to the leader.  If the workers' rows are sorted
 * together and dealt out in slices that cut no group (plan_paths_private.h), each worker computes
 * the final values of whole groups.
 *
 * The planner's cheapest path of those that group sorted rows is copied.  For other aggregates it
 * will have found something cheaper than any of these, as a rule.
 */

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

/*
 * Makes paths whose aggregates are computed by parallel workers: a List of Path, for the caller to
 * add to the grouped relation.  *cost is what they cost if each row is charged what it takes in a
 * Gather (plan_paths_private.h).
 */
static List *
gpusort_make_group_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						 Cost *cost)
{
	const AggPath *grouping;
	GpuSortSlices slices = {.root = root, .rel = grouped_rel, .make = copy_grouping};
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
	slices.original = grouping;
	return gpusort_offer_sliced(&slices, input_rel, pathkeys,
								gpusort_count_leading_keys(root, grouping->groupClause, pathkeys),
								cost);
}

/* ---------- grouping sorted rows ---------- */

/*
 * Returns how many groups the planner expects, before HAVING if that can be known; 0 if no path
 * tells.
 */
static double
expected_groups(const RelOptInfo *grouped_rel)
{
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (IsA(path, AggPath))
			return ((const AggPath *) path)->numGroups;
		if (IsA(path, GroupPath) || IsA(path, AppendPath))	/* of each partition */
			return path->rows;
	}
	return 0;
}

static List *
make_sorted_paths(const GpuSortGroupedRows *grouped, RelOptInfo *sorted_rel)
{
	return gpusort_make_sorted_paths(grouped->root, sorted_rel, grouped->rel, grouped->order,
									 GPUSORT_NO_LIMIT);
}

/*
 * Makes paths that sort and group the relation's rows, or the groups that workers have made of
 * theirs: a List of Path.
 */
static List *
make_grouped_paths(const GpuSortGroupedRows *grouped, RelOptInfo *sorted_rel, AggSplit split,
				   const GroupPathExtraData *extra)
{
	PlannerInfo *root = grouped->root;
	RelOptInfo *rel = grouped->rel;

	/* Without GROUP BY there is one group, whose aggregates may want an order (from 16 on). */
	AggStrategy strategy = root->parse->groupClause != NIL ? AGG_SORTED : AGG_PLAIN;
	const AggClauseCosts *costs = &extra->agg_final_costs;
	AggClauseCosts simple_costs = {0};
	List	   *clause = gpusort_group_clause(root);
	List	   *having = (List *) extra->havingQual;
	List	   *paths = grouped->groups > 0 ? make_sorted_paths(grouped, sorted_rel) : NIL;
	ListCell   *lc;

	if (paths != NIL && split == AGGSPLIT_SIMPLE)
	{
		get_agg_clause_costs(root, split, &simple_costs);
		costs = &simple_costs;
	}
	foreach(lc, paths)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (root->parse->hasAggs)
			path = (Path *) create_agg_path(root, rel, path, rel->reltarget, strategy, split,
											clause, having, costs, grouped->groups);
		else
			path = (Path *) create_group_path(root, rel, path, clause, having, grouped->groups);
		lfirst(lc) = path;
	}
	return paths;
}

/*
 * Returns the planner's cheapest path for grouping sets some of which come in the input's order, or
 * NULL.
 */
static const GroupingSetsPath *
find_grouping_sets(const PlannerInfo *root, const RelOptInfo *grouped_rel)
{
	const GroupingSetsPath *cheapest = NULL;
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		const GroupingSetsPath *path = (const GroupingSetsPath *) lfirst(lc);

		if (IsA(path, GroupingSetsPath) &&
			(path->aggstrategy == AGG_SORTED || path->aggstrategy == AGG_MIXED) &&
			pathkeys_contained_in(root->group_pathkeys, path->subpath->pathkeys) &&
			(cheapest == NULL || path->path.total_cost < cheapest->path.total_cost))
			cheapest = path;
	}
	return cheapest;
}

static List *
make_grouping_sets_paths(const GpuSortGroupedRows *grouped)
{
	const GroupingSetsPath *sets = find_grouping_sets(grouped->root, grouped->rel);
	List	   *paths = sets != NULL ? make_sorted_paths(grouped, grouped->input_rel) : NIL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *input = (Path *) lfirst(lc);
		GroupingSetsPath *copy = makeNode(GroupingSetsPath);

		*copy = *sets;
		copy->subpath = input;
		copy->path.startup_cost += input->startup_cost - sets->subpath->startup_cost;
		copy->path.total_cost += input->total_cost - sets->subpath->total_cost;
		gpusort_copy_path_disabled(&copy->path, input);
		lfirst(lc) = copy;
	}
	return paths;
}

/* Makes the paths above a sort of the groups that workers have made of their rows. */
static List *
make_combining_paths(const GpuSortGroupedRows *grouped, const GroupPathExtraData *extra)
{
	RelOptInfo *partial_rel;

	if (!extra->partial_costs_set || grouped->root->parse->groupingSets != NIL)
		return NIL;
	partial_rel = fetch_upper_rel(grouped->root, UPPERREL_PARTIAL_GROUP_AGG, NULL);
	if (partial_rel->pathlist == NIL || !gpusort_plan_groups_might_be_kept(grouped, partial_rel, 0))
		return NIL;
	return make_grouped_paths(grouped, partial_rel, AGGSPLIT_FINAL_DESERIAL, extra);
}

/* Makes the leader's own paths. */
static List *
make_paths(const GpuSortGroupedRows *grouped, const GroupPathExtraData *extra, bool might_be_kept)
{
	List	   *paths = NIL;

	if (grouped->order == NIL ||
		pathkeys_contained_in(grouped->order, grouped->input_rel->cheapest_total_path->pathkeys))
		return NIL;
	if (might_be_kept)
		paths = grouped->root->parse->groupingSets != NIL ? make_grouping_sets_paths(grouped) :
			make_grouped_paths(grouped, grouped->input_rel, AGGSPLIT_SIMPLE, extra);
	return list_concat(paths, make_combining_paths(grouped, extra));
}

/* Returns what grouping costs for each row that comes in order, with what its aggregates cost. */
static Cost
cost_of_row(PlannerInfo *root)
{
	AggClauseCosts costs = {0};

	if (root->parse->groupingSets != NIL || root->numOrderedAggs > 0)
		return 0;
	if (root->parse->hasAggs)
		get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	return costs.transCost.per_tuple + list_length(gpusort_group_clause(root)) * cpu_operator_cost;
}

/* Makes the paths above rows that come in the order that aggregates want. */
static void
make_aggregate_paths(const GpuSortGroupedRows *grouped, const GroupPathExtraData *extra,
					 GpuSortAggregatePaths *paths)
{
	PlannerInfo *root = grouped->root;
	GpuSortGrouping grouping = {
		.root = root, .input_rel = grouped->input_rel, .grouped_rel = grouped->rel, .extra = extra,
		.grouped = grouped, .having = (List *) extra->havingQual
	};

	memset(paths, 0, sizeof(*paths));
	if (root->numOrderedAggs == 0 || root->parse->groupingSets != NIL ||
		!gpusort_can_sort_below(&grouping))
		return;
	gpusort_make_distinct_agg_paths(&grouping, paths);
	if (paths->whole == NIL && paths->sliced == NIL)
		gpusort_make_ordered_agg_paths(&grouping, paths);
}

/*
 * Paths whose aggregates sort within themselves are left out where there are paths whose aggregates
 * need not.
 */
void
gpusort_add_group_by_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
						   const GroupPathExtraData *extra)
{
	const Path *cheapest = input_rel->cheapest_total_path;
	List	   *paths = NIL;
	List	   *left_out = NIL;
	List	   *sliced = NIL;
	Cost		cost = GPUSORT_NO_SLICES;
	GpuSortGroupedRows grouped = {
		.root = root, .rel = grouped_rel, .input_rel = input_rel, .pathkeys = root->group_pathkeys,
		.order = root->group_pathkeys,
		.have_agg = root->parse->hasAggs
	};
	GpuSortAggregatePaths inside;
	bool		is_lacking;
	bool		might_be_kept;

	if (grouped_rel->pathlist == NIL || cheapest == NULL ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL ||
		(extra->flags & GROUPING_CAN_USE_SORT) == 0 ||
		(cheapest->rows < gpusort_min_rows && !gpusort_force))
		return;
	grouped.groups = expected_groups(grouped_rel);
	grouped.row_cost = cost_of_row(root);
	make_aggregate_paths(&grouped, extra, &inside);
	is_lacking = inside.lacking > 0;
	might_be_kept = gpusort_plan_groups_might_be_kept(&grouped, input_rel, 0);
	paths = make_paths(&grouped, extra, might_be_kept);
	if (is_lacking && inside.whole != NIL)
	{
		left_out = paths;
		paths = NIL;
	}
	if (might_be_kept && (!is_lacking || inside.sliced == NIL))
		sliced = gpusort_make_group_paths(root, input_rel, grouped_rel, &cost);
	gpusort_offer_paths(&grouped, paths, sliced, cost);

	gpusort_offer_beside(grouped_rel, list_concat(inside.whole, inside.sliced), left_out,
						 inside.lacking);
}
