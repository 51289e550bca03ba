/*
 * heap_target.h
 *		Where versions in order go: pages of a new table, or the server's rewrite of tables.
 */
#ifndef GPUSORT_HEAP_TARGET_H
#define GPUSORT_HEAP_TARGET_H

#include "port/atomics.h"

#include "heap/heap_chains.h"
#include "heap/heap_writer.h"
#include "sort/sort_view.h"

/* One of the two. */
typedef struct GpuSortHeapTarget
{
	GpuSortHeapWriter *writer;
	GpuSortHeapChains *chains;
	bool		keyed;			/* versions come with keys (heap_keys.h) */
	bool		in_slices;		/* pages are kept until it is their turn */
	bool		may_toast;		/* else versions that need the toaster are refused */

	uint64		written;		/* by this process, ... */
	pg_atomic_uint64 *all_written;	/* ... and by all, in shared memory; NULL: there are no others */
	bool		shows;			/* their progress, to pg_stat_progress_cluster */
} GpuSortHeapTarget;

/* Put the versions at positions from .. to - 1; false if one was refused. */
extern bool gpusort_heap_target_put(GpuSortHeapTarget *target, const GpuSortView *view,
									uint64 from, uint64 to);

#endif							/* GPUSORT_HEAP_TARGET_H */
