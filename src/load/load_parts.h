/*
 * load_parts.h
 *		The partitions that rows have been routed to, as all participants of a COPY FROM know them.
 *
 * A participant locks a partition when the first one of its rows goes there, as the server does.  A
 * worker's locks end with the worker; so the leader takes them over before the workers may end.
 */
#ifndef GPUSORT_LOAD_PARTS_H
#define GPUSORT_LOAD_PARTS_H

#include "heap/heap_append.h"
#include "load/load_leaves.h"

typedef struct GpuSortLoadParts GpuSortLoadParts;

typedef struct GpuSortLoadPart
{
	Oid			partition;		/* InvalidOid: this place is free */
	GpuSortHeapTail tail;
	GpuSortLeafNumber leaf;		/* its number, if it has indexes */
	bool		is_used;		/* other sessions may have rows there, if it has indexes */
	bool		is_open;		/* some participant has opened, and locked, it */
} GpuSortLoadPart;

/*
 * The parts lie in shared memory, or, if there is only one participant, in that one's own.  They
 * have room for "count" partitions, of which "leaves" are those that have indexes.
 */
extern Size gpusort_parts_bytes(int count);
extern void gpusort_parts_init(GpuSortLoadParts *parts, int count, const GpuSortLoadLeaves *leaves);

/*
 * Notes that a partition, which the caller has locked, is open, and returns its part.  Returns NULL
 * if there are more partitions by now than there is room for.
 */
extern GpuSortLoadPart *gpusort_parts_open(GpuSortLoadParts *parts, Oid partition);

/*
 * Called by a worker that has nothing left to do: waits until the leader has taken over its locks.
 */
extern void gpusort_parts_await_leader(GpuSortLoadParts *parts);

/*
 * Called by the leader: takes over the workers' locks on partitions of "root", the table that was
 * named, and lets the workers end.
 */
extern void gpusort_parts_take_over(GpuSortLoadParts *parts, Oid root);

/*
 * Called by the leader at the end: tells the server of the rows that partitions have got, and notes
 * in "leaves" in which block they begin.
 */
extern void gpusort_parts_end(GpuSortLoadParts *parts, GpuSortLoadLeaves *leaves);

#endif							/* GPUSORT_LOAD_PARTS_H */
