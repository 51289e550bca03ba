/*
 * heap_target.h
 *		Writes sorted versions either into pages of a new table or through the server's rewrite
 *		of tables.
 */
#ifndef GPUSORT_HEAP_TARGET_H
#define GPUSORT_HEAP_TARGET_H

#include "port/atomics.h"

#include "heap/heap_chains.h"
#include "heap/heap_writer.h"
#include "sort/sort_view.h"

/* Where versions are written: either `writer` or `chains` is set. */
typedef struct GpuSortHeapTarget
{
	GpuSortHeapWriter *writer;
	GpuSortHeapChains *chains;
	bool		keyed;			/* versions come with keys (heap_keys.h) */
	bool		in_slices;		/* pages are kept until it is their slice's turn */
	bool		may_toast;		/* if not, versions that need the toaster are refused */

	uint64		written;		/* versions that this process has written */
	/* versions that all have written, in shared memory; NULL if this process writes alone */
	pg_atomic_uint64 *all_written;
	bool		shows;			/* this process reports to pg_stat_progress_cluster */
} GpuSortHeapTarget;

/* Write the versions at positions from .. to - 1.  Returns false if one of them was refused. */
extern bool gpusort_heap_target_put(GpuSortHeapTarget *target, const GpuSortView *view,
									uint64 from, uint64 to);

#endif							/* GPUSORT_HEAP_TARGET_H */
