/*
 * load_target.h
 *		Where rows go: a table, or partitions of one.
 */
#ifndef GPUSORT_LOAD_TARGET_H
#define GPUSORT_LOAD_TARGET_H

#include "heap/heap_append.h"
#include "heap/heap_buckets.h"
#include "load/load_columns.h"
#include "load/load_computed.h"
#include "load/load_task.h"
#include "load/load_tuple.h"

/* A table, or a partition. */
typedef struct GpuSortLoadTarget
{
	Relation	table;
	int			natts;
	GpuSortLoadAttribute *attributes;
	bool	   *not_null;
	bool		any_not_null;

	GpuSortAppend *append;		/* a table's pages */
	GpuSortBuckets *buckets;	/* those of partitions */
	GpuSortBucket *bucket;		/* ... of this one */
} GpuSortLoadTarget;

/* Without pages, in the current context. */
extern void gpusort_target_begin(GpuSortLoadTarget *target, Relation table);

/* Is there a NULL where none may be? */
extern bool gpusort_target_refuses_null(const GpuSortLoadTarget *target, const GpuSortLoadValue *values);

/* Put a row that is not too long to do without the toaster. */
extern void gpusort_target_put(const GpuSortLoadTarget *target, const GpuSortLoadValue *values, const GpuSortTupleSize *size);

/* Put one that the toaster must look at, in the current context; false: it remains too long. */
extern bool gpusort_target_put_toasted(const GpuSortLoadTarget *target, const GpuSortLoadValue *values, const GpuSortTupleSize *size);

#endif							/* GPUSORT_LOAD_TARGET_H */
