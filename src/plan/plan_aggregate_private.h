/*
 * plan_aggregate_private.h
 *		Agg nodes above rows that come in the order that aggregates ask for.
 *
 * PostgreSQL sorts what an aggregate's DISTINCT or ORDER BY asks for within the Agg node, group by
 * group.  If the rows come sorted by the columns of GROUP BY and then as the aggregate wants them,
 * it can be a plain aggregate, or has less to do.
 *
 * The planner's nodes above look for the aggregates as the query has them in what is below.  So
 * there is a CustomScan on top of the Agg that has the original target list; it is taken out of the
 * finished plan.
 */
#ifndef GPUSORT_PLAN_AGGREGATE_PRIVATE_H
#define GPUSORT_PLAN_AGGREGATE_PRIVATE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "plan/plan_paths_private.h"

/* What is grouped, and the order in which the rows come. */
typedef struct GpuSortGrouping
{
	PlannerInfo *root;
	RelOptInfo *input_rel;
	RelOptInfo *grouped_rel;
	const GroupPathExtraData *extra;
	/* about the same rows, with pathkeys of GROUP BY's columns only */
	const GpuSortGroupedRows *grouped;

	List	   *pathkeys;		/* GROUP BY's pathkeys, and then the aggregates' */
	int			group_columns;	/* number of pathkeys that are GROUP BY's */
	double		groups;

	/* target of the grouped relation, in which aggregates ask for less order */
	PathTarget *target;
	List	   *having;
} GpuSortGrouping;

/* Paths for the caller to add, as lists of Path. */
typedef struct GpuSortAggregatePaths
{
	List	   *whole;			/* the leader's own */
	List	   *sliced;			/* above slices of a shared sort */
	/*
	 * how much too little the other paths for the same groups have been charged, for what they sort
	 * within aggregates
	 */
	Cost		lacking;
} GpuSortAggregatePaths;

/*
 * Sets the pathkeys: those of GROUP BY, and then these by which an aggregate wants the values
 * sorted.
 */
extern void gpusort_plan_order_groups(GpuSortGrouping *grouping, List *values);
/* Estimates the number of groups. */
extern void gpusort_estimate_groups(GpuSortGrouping *grouping);

/* Returns what PostgreSQL takes to sort the values of one aggregate, group by group. */
extern Cost gpusort_inner_sort_cost(const GpuSortGrouping *grouping);

/* What PostgreSQL's sort takes of a row if the values come in order (75 ns). */
#define GPUSORT_INNER_ORDER_COST	0.03

/*
 * Returns whether a path above rows in this order might be kept, if the paths that there are lack
 * so much for what they sort within aggregates.
 */
extern bool gpusort_grouping_might_be_kept(const GpuSortGrouping *grouping, Cost lacking);

/* Returns the Aggrefs in what the grouped relation returns, and in HAVING. */
extern List *gpusort_aggregates(const GpuSortGrouping *grouping);

/*
 * Returns whether the rows may be sorted below the aggregates, which volatile functions and
 * subplans forbid.
 */
extern bool gpusort_can_sort_below(const GpuSortGrouping *grouping);

/*
 * Returns whether an aggregate's arguments are nothing but columns, so that they can be computed of
 * rows that a FILTER leaves out.  The FILTER may be there to keep an expression from failing.
 */
extern bool gpusort_are_columns(const List *args);

/* Makes an Agg above a path, which has so many groups. */
extern Path *gpusort_make_agg_path(const GpuSortGrouping *grouping, Path *input, AggSplit split,
								   PathTarget *target, double groups);

/*
 * Makes the path on top of an Agg, which is there for the planner only.  In the finished plan,
 * aggregates of the Partial Agg whose numbers are in the list `numbers` become DISTINCT, by these
 * SortGroupClauses; NIL stands for none.
 */
extern Path *gpusort_make_aggregate_path(const GpuSortGrouping *grouping, Path *agg, List *numbers,
										 List *distinct);

/* ---------- aggregates over distinct values: count(DISTINCT x) ---------- */

/*
 * Makes paths in which the rows come to the aggregates in order and distinct, or at least in order.
 * There may be none.
 */
extern void gpusort_make_distinct_agg_paths(const GpuSortGrouping *grouping,
											GpuSortAggregatePaths *paths);

/* ---------- aggregates over ordered values: array_agg(x ORDER BY y) and the like ---------- */

/*
 * Makes paths in which the rows come to the aggregates in the order that most of them want.  There
 * may be none.
 */
extern void gpusort_make_ordered_agg_paths(const GpuSortGrouping *grouping,
										   GpuSortAggregatePaths *paths);

/*
 * Returns whether all these Aggrefs, of a plan that is not finished, can be found by position among
 * rows in the order that one of them wants.  *mode tells whether one of them is a mode, which needs
 * all values.
 */
extern bool gpusort_are_by_position(const List *aggregates, bool *mode);

#endif							/* GPUSORT_PLAN_AGGREGATE_PRIVATE_H */
