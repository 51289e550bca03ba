/*
 * heap_cluster.h
 *		Copies a table in the order of an index: reads, sorts, writes.
 */
#ifndef GPUSORT_HEAP_CLUSTER_H
#define GPUSORT_HEAP_CLUSTER_H

#include "heap/heap_copy.h"

/* What became of the copies in the order of an index that this session was asked for. */
typedef struct GpuSortClusterCounters
{
	int64		sorted;
	int64		given_up;		/* copies begun here and then left to PostgreSQL */
	int64		left;			/* copies left to PostgreSQL from the start */
} GpuSortClusterCounters;

extern GpuSortClusterCounters gpusort_cluster_counters;

/*
 * Copy the table, and set *counts.  Returns false if nothing has been written and PostgreSQL has to
 * copy it; *counts has no meaning then.
 */
extern bool gpusort_cluster(const GpuSortHeapCopy *copy, GpuSortHeapCounts *counts);

#endif							/* GPUSORT_HEAP_CLUSTER_H */
