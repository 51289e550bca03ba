/*
 * heap_cluster.h
 *		Copying a table in the order of an index: read, sort, write.
 */
#ifndef GPUSORT_HEAP_CLUSTER_H
#define GPUSORT_HEAP_CLUSTER_H

#include "heap/heap_copy.h"

/* What became of the copies in the order of an index that this session was asked for. */
typedef struct GpuSortClusterCounters
{
	int64		sorted;
	int64		given_up;		/* begun, and then left to PostgreSQL */
	int64		left;			/* to PostgreSQL, from the start */
} GpuSortClusterCounters;

extern GpuSortClusterCounters gpusort_cluster_counters;

/* Copy the table; false if nothing has been written, nor counted, and PostgreSQL has to do it. */
extern bool gpusort_cluster(const GpuSortHeapCopy *copy, GpuSortHeapCounts *counts);

#endif							/* GPUSORT_HEAP_CLUSTER_H */
