/*
 * plan_ordered_aggs.c
 *		Aggregates over ordered values: array_agg(x ORDER BY y), percentile_cont().
 *
 * PostgreSQL sorts the values within the Agg node, group by group, in the leader.  From 16 on it
 * sorts below the Agg node for those aggregates that share one order, unless they are ordered sets.
 * Here the rows are sorted below the Agg node by the columns of GROUP BY and then in the order that
 * serves most aggregates:
 *
 *		Agg: array_agg(x)					Gather
 *		  -> GpuSort by y					  -> GroupAggregate: array_agg(x)
 *											    -> GpuSort Shared by g, y, sliced by g
 *
 * In the aggregates that this order serves, ORDER BY is left out, and so are the columns that only
 * it asks for.  DISTINCT and WITHIN GROUP are kept, but the values that they sort come in order,
 * which PostgreSQL's sort notices with one comparison a value.  All other aggregates sort for
 * themselves as before.  If percentiles and modes of one column are all there is, a node of ours
 * finds them in the result (plan_node.h).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"

#include "cost/cost.h"
#include "pg_compat/planner.h"
#include "plan/plan_aggregate_private.h"
#include "plan/plan_paths_private.h"

/* What a query's aggregates ask for. */
typedef struct OrderedAggs
{
	GpuSortGrouping grouping;	/* its target has aggregates that ask for less order */
	List	   *aggregates;		/* Aggrefs that want an order */
	List	   *served;			/* numbers of the aggregates that get the order they want */
	/* all aggregates can be found by their position, without looking at each row */
	bool		by_position;
	bool		mode;			/* but one is the mode, for which a bit of each row is looked at */
} OrderedAggs;

/* ---------- which order ---------- */

static List *
wanted_clauses(const Aggref *aggref)
{
	return aggref->aggdistinct != NIL ? aggref->aggdistinct : aggref->aggorder;
}

/* Returns what the rows have to be sorted by to serve an aggregate. */
static List *
wanted_order(const OrderedAggs *aggs, const Aggref *aggref)
{
	GpuSortGrouping grouping = aggs->grouping;

	gpusort_plan_order_groups(&grouping, make_pathkeys_for_sortclauses(grouping.root,
																	   wanted_clauses(aggref),
																	   aggref->args));
	return grouping.pathkeys;
}

/* Returns the numbers of the aggregates that an order serves. */
static List *
find_served(const OrderedAggs *aggs, List *pathkeys)
{
	List	   *numbers = NIL;
	ListCell   *lc;

	foreach(lc, aggs->aggregates)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (pathkeys_contained_in(wanted_order(aggs, aggref), pathkeys))
			numbers = list_append_unique_int(numbers, aggref->aggno);
	}
	return numbers;
}

/*
 * Lists the aggregates that want an order and whose rows can be sorted, whether or not a FILTER
 * leaves them out.
 */
static void
read_aggregates(OrderedAggs *aggs)
{
	ListCell   *lc;

	foreach(lc, gpusort_aggregates(&aggs->grouping))
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (wanted_clauses(aggref) != NIL && aggref->agglevelsup == 0 &&
			(aggref->aggfilter == NULL || gpusort_are_columns(aggref->args)))
			aggs->aggregates = lappend(aggs->aggregates, lfirst(lc));
	}
}

/*
 * Chooses the order that serves most aggregates.  Of several orders that serve as many, it is that
 * of the first aggregate that wants one of them.
 */
static void
choose_order(OrderedAggs *aggs)
{
	ListCell   *lc;

	foreach(lc, aggs->aggregates)
	{
		List	   *pathkeys = wanted_order(aggs, lfirst_node(Aggref, lc));
		List	   *served = find_served(aggs, pathkeys);

		if (list_length(served) > list_length(aggs->served))
		{
			aggs->grouping.pathkeys = pathkeys;
			aggs->served = served;
		}
	}
	aggs->grouping.group_columns = gpusort_count_group_pathkeys(aggs->grouping.root);
}

/* ---------- what is asked of the aggregates ---------- */

static bool
is_plain(const Aggref *aggref)
{
	return aggref->aggdistinct == NIL && aggref->aggkind == AGGKIND_NORMAL;
}

static List *
without_junk(const List *args)
{
	List	   *kept = NIL;
	ListCell   *lc;

	foreach(lc, args)
	{
		if (!lfirst_node(TargetEntry, lc)->resjunk)
			kept = lappend(kept, lfirst(lc));
	}
	return kept;
}

/*
 * Takes out of aggregates what the order serves.  From 16 on the planner may have marked an
 * aggregate as presorted, by another sort of its own, so the mark is set anew.
 */
static Node *
ask_for_less(Node *node, void *context)
{
	const OrderedAggs *aggs = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = makeNode(Aggref);
		bool		served;

		*aggref = *(const Aggref *) node;
		served = list_member_int(aggs->served, aggref->aggno);
		if (served && is_plain(aggref))
		{
			aggref->aggorder = NIL;
			aggref->args = without_junk(aggref->args);
		}
		gpusort_set_presorted(aggref, served && aggref->aggdistinct != NIL);
		return (Node *) aggref;
	}
	return expression_tree_mutator(node, ask_for_less, context);
}

static void
make_target(OrderedAggs *aggs)
{
	GpuSortGrouping *grouping = &aggs->grouping;

	grouping->target = copy_pathtarget(grouping->grouped_rel->reltarget);
	grouping->target->exprs = (List *) ask_for_less((Node *) grouping->target->exprs, aggs);
	grouping->having = (List *) ask_for_less((Node *) grouping->having, aggs);
}

/*
 * Returns what the planner's own paths sort within aggregates, and these paths don't.  Aggregates
 * that the planner's sort serves, and this order does not, count against these paths.
 */
static Cost
uncharged_inner_sorts(const OrderedAggs *aggs)
{
	const GpuSortGrouping *grouping = &aggs->grouping;
	Cost		sort = gpusort_inner_sort_cost(grouping);
	Cost		in_order = grouping->input_rel->cheapest_total_path->rows *
		GPUSORT_INNER_ORDER_COST;
	List	   *seen = NIL;
	Cost		hidden = 0;
	ListCell   *lc;

	foreach(lc, aggs->aggregates)
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (list_member_int(seen, aggref->aggtransno))
			continue;
		seen = lappend_int(seen, aggref->aggtransno);
		if (list_member_int(aggs->served, aggref->aggno))
			hidden += gpusort_is_presorted(aggref) ? 0
				: is_plain(aggref) || aggs->by_position ? sort : Max(sort - in_order, 0);
		else if (gpusort_is_presorted(aggref))
			hidden -= sort;
	}
	return hidden;
}

/* ---------- paths ---------- */

/*
 * What finding a group takes, by halving, and its values: 1 us and some cache misses.  A row's bit
 * takes 2 ns.
 */
#define GROUP_COST		0.4
#define HALVING_COST	0.08
#define BIT_COST		0.0008

/*
 * Charges what the node that stands for an Agg in the end takes above a sort (plan_node.h).
 */
static void
charge_by_position(const OrderedAggs *aggs, Path *agg, const Path *sorted, double groups)
{
	double		rows = Max(sorted->rows / groups, 1);
	Cost		cost = groups * (GROUP_COST + HALVING_COST * log2(rows));

	if (aggs->mode)
		cost += sorted->rows * BIT_COST;
	agg->total_cost = Min(agg->total_cost, sorted->startup_cost + cost);
	agg->startup_cost = Min(agg->startup_cost, sorted->startup_cost + cost / groups);
}

static Path *
make_agg(const OrderedAggs *aggs, Path *input, double groups)
{
	const GpuSortGrouping *grouping = &aggs->grouping;
	Path	   *agg = gpusort_make_agg_path(grouping, input, AGGSPLIT_SIMPLE, grouping->target,
											groups);

	if (aggs->by_position)
		charge_by_position(aggs, agg, input, groups);
	return gpusort_make_aggregate_path(grouping, agg, NIL, NIL);
}

static Path *
make_path(const GpuSortSlices *slices, const void *original)
{
	const OrderedAggs *aggs = original;

	return make_agg(aggs, slices->sort, Max(aggs->grouping.groups * slices->fraction, 1));
}

void
gpusort_make_ordered_agg_paths(const GpuSortGrouping *grouping, GpuSortAggregatePaths *paths)
{
	OrderedAggs aggs = {.grouping = *grouping};
	GpuSortSlices slices = {
		.root = grouping->root, .rel = grouping->grouped_rel, .make = make_path, .original = &aggs
	};
	Cost		cost = GPUSORT_NO_SLICES;

	memset(paths, 0, sizeof(*paths));
	read_aggregates(&aggs);
	choose_order(&aggs);
	if (aggs.grouping.pathkeys == NIL ||
		pathkeys_contained_in(aggs.grouping.pathkeys,
							  grouping->input_rel->cheapest_total_path->pathkeys))
		return;
	gpusort_estimate_groups(&aggs.grouping);
	aggs.by_position = list_length(aggs.grouping.pathkeys) == aggs.grouping.group_columns + 1 &&
		gpusort_are_by_position(gpusort_aggregates(grouping), &aggs.mode);
	paths->lacking = uncharged_inner_sorts(&aggs);
	if (paths->lacking <= 0 ||
		!gpusort_grouping_might_be_kept(&aggs.grouping, paths->lacking))
		return;
	make_target(&aggs);
	paths->whole = gpusort_make_whole_paths(&slices, grouping->input_rel, aggs.grouping.pathkeys);
	/* slices must not cut groups */
	if (grouping->grouped_rel->consider_parallel)
		paths->sliced = gpusort_offer_sliced(&slices, grouping->input_rel, aggs.grouping.pathkeys,
											 aggs.grouping.group_columns, &cost);
	paths->whole = gpusort_cheaper_paths(paths->whole, cost);
}
