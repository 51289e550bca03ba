/*
 * plan_group_by.c
 *		GROUP BY above a GpuSort, competing by cost.
 *
 * The planner compares its hash table with a sort of its own, and with an incremental sort where
 * an index delivers some of the order, so that what can be taken over in the finished plan is what has
 * won against a sort that costs more than ours.  So there are paths above our sorts as well: over all
 * rows, and over the groups that workers have made of theirs.
 *
 * Grouping sets of which some come in order, as those of a ROLLUP do, have a copy of the planner's
 * own path, which knows how each set is made, with another input.
 */
#include "postgres.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_distinct_aggs.h"
#include "plan/plan_group.h"
#include "plan/plan_group_by.h"
#include "plan/plan_ordered_aggs.h"
#include "plan/plan_slices.h"
#include "plan/plan_sorted.h"
#include "plan/plan_statistics.h"
#include "plan/plan_undercharged.h"
#include "settings.h"

/* How many groups the planner expects, HAVING apart if that can be known; 0 if no path tells. */
static double
expected_groups(const RelOptInfo *grouped_rel)
{
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		const Path *path = (const Path *) lfirst(lc);

		if (IsA(path, AggPath))
			return ((const AggPath *) path)->numGroups;
		if (IsA(path, GroupPath) || IsA(path, AppendPath))	/* groups of each partition */
			return path->rows;
	}
	return 0;
}

static List *
make_sorted_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	return gpusort_make_sorted_paths(root, input_rel, grouped_rel, root->group_pathkeys,
									 GPUSORT_NO_LIMIT);
}

/* The relation's rows, or what workers have made of them, sorted and grouped: a List of Path. */
static List *
make_grouped_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
				   AggSplit split, const GroupPathExtraData *extra)
{
	/* without GROUP BY there is one group, whose aggregates may want an order (16) */
	AggStrategy strategy = root->parse->groupClause != NIL ? AGG_SORTED : AGG_PLAIN;
	const AggClauseCosts *costs = &extra->agg_final_costs;
	AggClauseCosts simple_costs = {0};
	List	   *clause = gpusort_group_clause(root);
	List	   *having = (List *) extra->havingQual;
	double		groups = expected_groups(grouped_rel);
	List	   *paths = groups > 0 ? make_sorted_paths(root, input_rel, grouped_rel) : NIL;
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
			path = (Path *) create_agg_path(root, grouped_rel, path, grouped_rel->reltarget,
											strategy, split, clause, having, costs, groups);
		else
			path = (Path *) create_group_path(root, grouped_rel, path, clause, having, groups);
		lfirst(lc) = path;
	}
	return paths;
}

/* The planner's cheapest path for grouping sets some of which come in the input's order, or NULL. */
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
make_grouping_sets_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	const GroupingSetsPath *sets = find_grouping_sets(root, grouped_rel);
	List	   *paths = sets != NULL ? make_sorted_paths(root, input_rel, grouped_rel) : NIL;
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

/* The leader's own. */
static List *
make_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
		   const GroupPathExtraData *extra)
{
	RelOptInfo *partial_rel;
	List	   *paths;

	if (root->group_pathkeys == NIL ||
		pathkeys_contained_in(root->group_pathkeys, input_rel->cheapest_total_path->pathkeys))
		return NIL;
	if (root->parse->groupingSets != NIL)
		return make_grouping_sets_paths(root, input_rel, grouped_rel);
	paths = make_grouped_paths(root, input_rel, grouped_rel, AGGSPLIT_SIMPLE, extra);
	if (extra->partial_costs_set)
	{
		partial_rel = fetch_upper_rel(root, UPPERREL_PARTIAL_GROUP_AGG, NULL);
		if (partial_rel->pathlist != NIL)
			paths = list_concat(paths, make_grouped_paths(root, partial_rel, grouped_rel,
														  AGGSPLIT_FINAL_DESERIAL, extra));
	}
	return paths;
}

/* Above rows that come as aggregates want them. */
static void
make_aggregate_paths(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel,
					 const GroupPathExtraData *extra, GpuSortAggregatePaths *paths)
{
	GpuSortGrouping grouping = {
		.root = root, .input_rel = input_rel, .grouped_rel = grouped_rel, .extra = extra,
		.having = (List *) extra->havingQual
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
 * All paths are made before the first is added, which may free the one that is copied.  As for
 * windows (plan_window.c), the leader's are left out if workers are faster.  So are those that sort
 * within aggregates where there are others.
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
	GpuSortAggregatePaths inside;
	bool		is_lacking;

	if (grouped_rel->pathlist == NIL || cheapest == NULL ||
		grouped_rel->reloptkind != RELOPT_UPPER_REL ||
		(extra->flags & GROUPING_CAN_USE_SORT) == 0 ||
		(cheapest->rows < gpusort_min_rows && !gpusort_force))
		return;
	make_aggregate_paths(root, input_rel, grouped_rel, extra, &inside);
	is_lacking = inside.lacking > 0;
	paths = make_paths(root, input_rel, grouped_rel, extra);
	if (is_lacking && inside.whole != NIL)
	{
		left_out = paths;
		paths = NIL;
	}
	if (!is_lacking || inside.sliced == NIL)
		sliced = gpusort_make_group_paths(root, input_rel, grouped_rel, &cost);
	paths = list_concat(gpusort_cheaper_paths(paths, cost), sliced);
	if (paths != NIL)
		gpusort_outbid_hash_tables(paths, grouped_rel, input_rel,
								   gpusort_known_groups_by(root, root->group_pathkeys, cheapest->rows,
														   expected_groups(grouped_rel)),
								   root->group_pathkeys, root->parse->hasAggs);
	gpusort_add_paths(grouped_rel, paths);

	paths = list_concat(inside.whole, inside.sliced);
	gpusort_outbid_all(paths, grouped_rel, left_out, inside.lacking);
	gpusort_add_paths(grouped_rel, paths);
}
