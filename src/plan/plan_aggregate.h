/*
 * plan_aggregate.h
 *		Agg nodes above rows that come in the order that aggregates ask for.
 *
 * PostgreSQL sorts within the Agg node what an aggregate's DISTINCT or ORDER BY asks for, group by group.
 * Where the rows come sorted, by the columns of GROUP BY and then as an aggregate wants them, it is
 * a plain one, or has less to do.
 *
 * In the planner's other nodes the aggregates are as the query has them, and these nodes look for
 * them in what is below.  So there is a CustomScan on top that has the original target list, which
 * is taken away in the finished plan.
 */
#ifndef GPUSORT_PLAN_AGGREGATE_H
#define GPUSORT_PLAN_AGGREGATE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "plan/plan_offer.h"

/* What is grouped, and how the rows come. */
typedef struct GpuSortGrouping
{
	PlannerInfo *root;
	RelOptInfo *input_rel;
	RelOptInfo *grouped_rel;
	const GroupPathExtraData *extra;
	const GpuSortGroupedRows *grouped;	/* the same, by GROUP BY's columns only */

	List	   *pathkeys;		/* GROUP BY's, and then the aggregates' */
	int			group_columns;	/* how many are GROUP BY's */
	double		groups;

	PathTarget *target;			/* the grouped relation's, with aggregates that are asked for less */
	List	   *having;
} GpuSortGrouping;

/* Paths, lists of Path to be added. */
typedef struct GpuSortAggregatePaths
{
	List	   *whole;			/* the leader's */
	List	   *sliced;			/* of slices of a shared sort */
	Cost		lacking;		/* what other paths for the same have been charged too little: for
								 * what they sort within aggregates */
} GpuSortAggregatePaths;

/* Have the rows sorted by GROUP BY and these pathkeys, of the values' own sort. */
extern void gpusort_order_groups(GpuSortGrouping *grouping, List *values);
extern void gpusort_estimate_groups(GpuSortGrouping *grouping);

/* What PostgreSQL takes to sort the values of one aggregate, group by group. */
extern Cost gpusort_inner_sort_cost(const GpuSortGrouping *grouping);

/* ... of a row whose value comes in order (75 ns). */
#define GPUSORT_INNER_ORDER_COST	0.03

/*
 * Might a path above rows in that order be kept, if those that there are sort within aggregates for so much (lacking)?
 */
extern bool gpusort_grouping_might_be_kept(const GpuSortGrouping *grouping, Cost lacking);

/* The Aggrefs of what a grouped relation returns, and of HAVING. */
extern List *gpusort_aggregates(const GpuSortGrouping *grouping);

/* Whether nothing in these keeps rows from being sorted below the aggregates. */
extern bool gpusort_can_sort_below(const GpuSortGrouping *grouping);

/*
 * May what aggregates want be computed of rows that a FILTER keeps from them?  It may be there
 * to keep an expression from failing.
 */
extern bool gpusort_are_columns(const List *args);

/* An Agg above a path, of so many groups. */
extern Path *gpusort_make_agg_path(const GpuSortGrouping *grouping, Path *input, AggSplit split,
								   PathTarget *target, double groups);

/*
 * The path on top of it, which is for the planner only.  Those of its Partial Agg's aggregates whose
 * numbers are in a list will be DISTINCT, by these SortGroupClauses; NIL: none.
 */
extern Path *gpusort_make_aggregate_path(const GpuSortGrouping *grouping, Path *agg, List *numbers,
										 List *distinct);

/*
 * In a finished plan: the Agg node that such a path's node stands for, which is
 * GPUSORT_AGGREGATE_NODE.
 */
extern Plan *gpusort_finish_aggregate(CustomScan *scan);

#endif							/* GPUSORT_PLAN_AGGREGATE_H */
