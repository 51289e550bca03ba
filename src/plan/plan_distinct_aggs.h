/*
 * plan_distinct_aggs.h
 *		Aggregates over distinct values: count(DISTINCT x).
 */
#ifndef GPUSORT_PLAN_DISTINCT_AGGS_H
#define GPUSORT_PLAN_DISTINCT_AGGS_H

#include "plan/plan_aggregate.h"

/*
 * Make paths below whose aggregates the rows come in order and distinct, or at least in order; perhaps
 * none.
 */
extern void gpusort_make_distinct_agg_paths(const GpuSortGrouping *grouping,
											GpuSortAggregatePaths *paths);

#endif							/* GPUSORT_PLAN_DISTINCT_AGGS_H */
