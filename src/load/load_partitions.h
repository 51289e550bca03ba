/*
 * load_partitions.h
 *		The partitions that a participant puts rows into.
 */
#ifndef GPUSORT_LOAD_PARTITIONS_H
#define GPUSORT_LOAD_PARTITIONS_H

#include "access/attmap.h"
#include "load/load_parts.h"
#include "load/load_target.h"

/* A partition that a row was routed to, and the row as it is there. */
typedef struct GpuSortLoadPartition
{
	GpuSortLoadTarget target;
	GpuSortLoadComputer *computer;	/* of generated columns and constraints, or NULL */
	const AttrMap *map;			/* of the root's columns, or NULL: they are the same */
	GpuSortLoadValue *values;	/* if there is a map */
	GpuSortLeafNumber leaf;		/* if it has indexes */
	struct GpuSortLoadPartition *next;
} GpuSortLoadPartition;

typedef struct GpuSortLoadPartitions GpuSortLoadPartitions;

/* In the current context. */
extern GpuSortLoadPartitions *gpusort_partitions_begin(const GpuSortLoadTask *task, Relation root,
														GpuSortLoadParts *parts);

extern GpuSortBuckets *gpusort_partitions_buckets(GpuSortLoadPartitions *partitions);

/*
 * The partition of a row; NULL: it is not one for us.  That there is none is an error.
 */
extern GpuSortLoadPartition *gpusort_partitions_find(GpuSortLoadPartitions *partitions, const GpuSortLoadValue *values);

/* The row as it is there. */
extern GpuSortLoadValue *gpusort_partition_values(GpuSortLoadPartition *partition, GpuSortLoadValue *values);

extern void gpusort_partitions_end(GpuSortLoadPartitions *partitions);

#endif							/* GPUSORT_LOAD_PARTITIONS_H */
