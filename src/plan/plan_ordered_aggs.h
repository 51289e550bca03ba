/*
 * plan_ordered_aggs.h
 *		Aggregates over ordered values: array_agg(x ORDER BY y), percentile_cont().
 */
#ifndef GPUSORT_PLAN_ORDERED_AGGS_H
#define GPUSORT_PLAN_ORDERED_AGGS_H

#include "plan/plan_aggregate.h"

/*
 * Makes paths in which the rows come to the aggregates in the order that most of them want.  There
 * may be none.
 */
extern void gpusort_make_ordered_agg_paths(const GpuSortGrouping *grouping,
										   GpuSortAggregatePaths *paths);

#endif							/* GPUSORT_PLAN_ORDERED_AGGS_H */
