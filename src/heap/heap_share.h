/*
 * heap_share.h
 *		What processes share that read a table which is copied: its pages, and what they find.
 */
#ifndef GPUSORT_HEAP_SHARE_H
#define GPUSORT_HEAP_SHARE_H

#include "port/atomics.h"
#include "storage/block.h"
#include "storage/spin.h"

#include "heap/heap_copy.h"

/* In shared memory, if there are workers. */
typedef struct GpuSortHeapShare
{
	BlockNumber nblocks;
	pg_atomic_uint64 next;		/* page that no process has taken */
	pg_atomic_uint64 read;		/* pages, ... */
	pg_atomic_uint64 kept;		/* ... and versions of these */
	pg_atomic_uint32 stopped;	/* some version could not be put */

	slock_t		mutex;			/* of the following */
	GpuSortHeapFindings findings;
} GpuSortHeapShare;

extern void gpusort_heap_share_init(GpuSortHeapShare *share, BlockNumber nblocks);

/* The next pages for this process, from .. end - 1; false if there are none. */
extern bool gpusort_heap_share_take(GpuSortHeapShare *share, BlockNumber *from, BlockNumber *end);

/* A page has been read, with so many versions to be kept. */
extern void gpusort_heap_share_count(GpuSortHeapShare *share, int versions);

/* Show what all have read. */
extern void gpusort_heap_share_show(GpuSortHeapShare *share);

/* Nobody is to read on. */
extern void gpusort_heap_share_stop(GpuSortHeapShare *share);

/* A process has come to its end. */
extern void gpusort_heap_share_add(GpuSortHeapShare *share, const GpuSortHeapFindings *findings);

/* All have: have all pages been read and their versions put? */
extern bool gpusort_heap_share_is_complete(GpuSortHeapShare *share);

#endif							/* GPUSORT_HEAP_SHARE_H */
