/*
 * load_partitions.h
 *		The partitions that a participant puts rows into.
 */
#ifndef GPUSORT_LOAD_PARTITIONS_H
#define GPUSORT_LOAD_PARTITIONS_H

#include "access/attmap.h"
#include "load/load_parts.h"
#include "load/load_target.h"

/* A partition that rows are routed to, and the current row as the partition stores it. */
typedef struct GpuSortLoadPartition
{
	GpuSortLoadTarget target;
	GpuSortLoadComputer *computer;	/* for generated columns and constraints, or NULL */
	const AttrMap *map;			/* from the root's columns, or NULL: they are the same */
	GpuSortLoadValue *values;	/* the current row, if there is a map */
	GpuSortLeafNumber leaf;		/* its number, if it has indexes */
	struct GpuSortLoadPartition *next;
} GpuSortLoadPartition;

typedef struct GpuSortLoadPartitions GpuSortLoadPartitions;

/* Begins to route rows to the partitions of "root"; allocates in the current context. */
extern GpuSortLoadPartitions *gpusort_partitions_begin(const GpuSortLoadTask *task, Relation root,
														GpuSortLoadParts *parts);

extern GpuSortBuckets *gpusort_partitions_buckets(GpuSortLoadPartitions *partitions);

/*
 * Returns the partition that a row belongs to, or NULL if rows can't be put into it here.  Raises
 * an error if the table has no partition for the row.
 */
extern GpuSortLoadPartition *gpusort_partitions_find(GpuSortLoadPartitions *partitions,
													 const GpuSortLoadValue *values);

/* Returns a row of the root as the partition stores it; valid until the next row. */
extern GpuSortLoadValue *gpusort_partition_values(GpuSortLoadPartition *partition,
												  GpuSortLoadValue *values);

extern void gpusort_partitions_end(GpuSortLoadPartitions *partitions);

#endif							/* GPUSORT_LOAD_PARTITIONS_H */
