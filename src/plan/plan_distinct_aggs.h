/*
 * plan_distinct_aggs.h
 *		Aggregates over distinct values: count(DISTINCT x).
 */
#ifndef GPUSORT_PLAN_DISTINCT_AGGS_H
#define GPUSORT_PLAN_DISTINCT_AGGS_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/*
 * Paths, lists of Path to be added, below whose aggregates the rows come in order and distinct, or at
 * least in order.
 */
typedef struct GpuSortDistinctAggPaths
{
	List	   *whole;			/* the leader's */
	List	   *sliced;			/* of slices of a shared sort */
	Cost		lacking;		/* what other paths for the same have been charged too little: for
								 * what they sort within aggregates */
} GpuSortDistinctAggPaths;

/* Make such paths for a grouped relation, perhaps none; extra: what the planner's hook gets. */
extern void gpusort_make_distinct_agg_paths(PlannerInfo *root, RelOptInfo *input_rel,
											RelOptInfo *grouped_rel,
											const GroupPathExtraData *extra,
											GpuSortDistinctAggPaths *paths);

/*
 * In a finished plan: the Agg node that such a path's node stands for, which is
 * GPUSORT_AGGREGATE_NODE.
 */
extern Plan *gpusort_finish_distinct_aggs(CustomScan *scan);

#endif							/* GPUSORT_PLAN_DISTINCT_AGGS_H */
