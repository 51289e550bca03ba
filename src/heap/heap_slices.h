/*
 * heap_slices.h
 *		Writes a new table by several processes, each of which writes slices of the sorted
 *		versions.
 */
#ifndef GPUSORT_HEAP_SLICES_H
#define GPUSORT_HEAP_SLICES_H

#include "btree/btree_storage.h"
#include "heap/heap_copy.h"
#include "heap/heap_turns.h"
#include "sort/sort_view.h"

/* What the processes share. */
typedef struct GpuSortHeapSlices
{
	uint64		rows;
	uint64		step;			/* versions in each slice but the last */
	bool		keyed;			/* versions come with keys (heap_keys.h) */
	GpuSortSharedFile file;
	GpuSortTurns turns;
	pg_atomic_uint64 written;	/* versions that have been written */
} GpuSortHeapSlices;

/*
 * Cut the sorted versions into slices.  Returns false if that is not worth it, since there is only
 * one slice or too many would be left to the leader.
 */
extern bool gpusort_heap_slices_init(GpuSortHeapSlices *slices, const GpuSortHeapCopy *copy,
									 const GpuSortView *view, const GpuSortHeapFindings *findings);

/* Returns the number of slices. */
static inline uint64
gpusort_heap_slice_count(const GpuSortHeapSlices *slices)
{
	return (slices->rows + slices->step - 1) / slices->step;
}

/*
 * Take slices and write them into the new table, until there are none left.  The leader returns
 * when all slices have their blocks; other processes may still be writing their pages.
 */
extern void gpusort_heap_slices_put(GpuSortHeapSlices *slices, Relation new_heap,
									GpuSortStorage *storage, const GpuSortView *view);

#endif							/* GPUSORT_HEAP_SLICES_H */
