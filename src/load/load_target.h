/*
 * load_target.h
 *		Where rows go: a table, or partitions of one.
 */
#ifndef GPUSORT_LOAD_TARGET_H
#define GPUSORT_LOAD_TARGET_H

#include "heap/heap_append.h"
#include "load/load_columns.h"
#include "load/load_computed.h"
#include "load/load_task.h"
#include "load/load_tuple.h"

/* A table, or a partition, that rows are put into. */
typedef struct GpuSortLoadTarget
{
	Relation	table;
	int			natts;
	GpuSortLoadAttribute *attributes;
	bool	   *not_null;
	bool		any_not_null;

	GpuSortAppend *append;		/* the pages of a table; NULL for a partition */
	GpuSortBuckets *buckets;	/* the buckets of all partitions of this participant */
	GpuSortBucket *bucket;		/* the bucket of this partition */
} GpuSortLoadTarget;

/* Fills *target for a table, without pages; allocates in the current context. */
extern void gpusort_target_begin(GpuSortLoadTarget *target, Relation table);

/* Returns whether a row has a NULL in a column that must not be null. */
extern bool gpusort_target_refuses_null(const GpuSortLoadTarget *target,
										const GpuSortLoadValue *values);

/* Puts a row that is short enough to do without the toaster. */
extern void gpusort_target_put(const GpuSortLoadTarget *target, const GpuSortLoadValue *values,
							   const GpuSortTupleSize *size);

/*
 * Puts a row that the toaster has to make shorter, which it does in the current context.  Returns
 * false if the row is still too long.
 */
extern bool gpusort_target_put_toasted(const GpuSortLoadTarget *target,
									   const GpuSortLoadValue *values,
									   const GpuSortTupleSize *size);

#endif							/* GPUSORT_LOAD_TARGET_H */
