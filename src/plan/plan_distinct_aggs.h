/*
 * plan_distinct_aggs.h
 *		Aggregates over distinct values: count(DISTINCT x).
 */
#ifndef GPUSORT_PLAN_DISTINCT_AGGS_H
#define GPUSORT_PLAN_DISTINCT_AGGS_H

#include "plan/plan_aggregate.h"

/*
 * Makes paths in which the rows come to the aggregates in order and distinct, or at least in order.
 * There may be none.
 */
extern void gpusort_make_distinct_agg_paths(const GpuSortGrouping *grouping,
											GpuSortAggregatePaths *paths);

#endif							/* GPUSORT_PLAN_DISTINCT_AGGS_H */
