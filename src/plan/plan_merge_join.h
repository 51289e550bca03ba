/*
 * plan_merge_join.h
 *		Merge joins above our sorts.
 */
#ifndef GPUSORT_PLAN_MERGE_JOIN_H
#define GPUSORT_PLAN_MERGE_JOIN_H

#include "plan/plan_pair.h"

/* Adds the paths of merge joins of a pair of relations. */
extern void gpusort_add_merge_join_paths(const GpuSortPair *pair);

#endif							/* GPUSORT_PLAN_MERGE_JOIN_H */
