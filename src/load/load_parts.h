/*
 * load_parts.h
 *		The partitions that rows have been routed to, as all participants of a COPY FROM know them.
 *
 * A participant locks a partition when a row is the first one of its to go there, as the server does.  A worker's
 * locks end with the worker; so the leader takes them over before workers may end.
 */
#ifndef GPUSORT_LOAD_PARTS_H
#define GPUSORT_LOAD_PARTS_H

#include "heap/heap_buckets.h"
#include "load/load_leaves.h"

typedef struct GpuSortLoadParts GpuSortLoadParts;

typedef struct GpuSortLoadPart
{
	Oid			partition;		/* InvalidOid: nothing is here */
	GpuSortHeapTail tail;
	GpuSortLeafNumber leaf;		/* if it has indexes */
	bool		is_used;		/* ... is it in use by others? */
	bool		is_open;		/* somebody has locked it */
} GpuSortLoadPart;

/*
 * In shared memory, or, if there is one participant, in its own; for so many partitions, of which these are leaves that have
 * indexes.
 */
extern Size gpusort_parts_bytes(int count);
extern void gpusort_parts_init(GpuSortLoadParts *parts, int count, const GpuSortLoadLeaves *leaves);

/* Open a partition, which is locked; NULL: there are more partitions now than there is room for. */
extern GpuSortLoadPart *gpusort_parts_open(GpuSortLoadParts *parts, Oid partition);

/* A worker has done all.  Wait until its locks are the leader's. */
extern void gpusort_parts_await_leader(GpuSortLoadParts *parts);

/* The leader: take over the workers' locks below the table that was named, and let them end. */
extern void gpusort_parts_take_over(GpuSortLoadParts *parts, Oid root);

/* The leader, at the end: what the server is to be told of the partitions that have got rows, and where these begin. */
extern void gpusort_parts_end(GpuSortLoadParts *parts, GpuSortLoadLeaves *leaves);

#endif							/* GPUSORT_LOAD_PARTS_H */
