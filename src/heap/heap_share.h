/*
 * heap_share.h
 *		What the processes that read a table to be copied share: the pages to take, and what they
 *		find.
 */
#ifndef GPUSORT_HEAP_SHARE_H
#define GPUSORT_HEAP_SHARE_H

#include "port/atomics.h"
#include "storage/block.h"
#include "storage/spin.h"

#include "heap/heap_copy.h"

/* State of reading a table.  In shared memory if there are workers. */
typedef struct GpuSortHeapShare
{
	BlockNumber nblocks;
	pg_atomic_uint64 next;		/* first page that no process has taken */
	pg_atomic_uint64 read;		/* pages that have been read */
	pg_atomic_uint64 kept;		/* versions to be kept in the pages read */
	pg_atomic_uint32 stopped;	/* not 0 if some version could not be put */

	slock_t		mutex;			/* protects `findings` */
	GpuSortHeapFindings findings;
} GpuSortHeapShare;

/* Prepare to share the reading of so many pages. */
extern void gpusort_heap_share_init(GpuSortHeapShare *share, BlockNumber nblocks);

/*
 * Take the next pages for this process to read, *from .. *end - 1.  Returns false if there are
 * none left, or reading was stopped.
 */
extern bool gpusort_heap_share_take(GpuSortHeapShare *share, BlockNumber *from, BlockNumber *end);

/* Note that a page has been read, with so many versions to be kept. */
extern void gpusort_heap_share_count(GpuSortHeapShare *share, int versions);

/* Report to the progress view what all processes have read. */
extern void gpusort_heap_share_show(GpuSortHeapShare *share);

/* Keep all processes from taking any more pages. */
extern void gpusort_heap_share_stop(GpuSortHeapShare *share);

/* Add what a process has found, when it has read its last page. */
extern void gpusort_heap_share_add(GpuSortHeapShare *share, const GpuSortHeapFindings *findings);

/*
 * Returns whether all pages have been read and their versions put; to be asked when all processes
 * have ended reading.
 */
extern bool gpusort_heap_share_is_complete(GpuSortHeapShare *share);

#endif							/* GPUSORT_HEAP_SHARE_H */
