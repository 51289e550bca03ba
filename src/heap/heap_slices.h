/*
 * heap_slices.h
 *		Versions in order into a new table: what each process does that takes part.
 */
#ifndef GPUSORT_HEAP_SLICES_H
#define GPUSORT_HEAP_SLICES_H

#include "btree/btree_storage.h"
#include "heap/heap_copy.h"
#include "heap/heap_turns.h"
#include "sort/sort_view.h"

/* In shared memory. */
typedef struct GpuSortHeapSlices
{
	uint64		rows;
	uint64		step;			/* so many in each slice */
	bool		keyed;			/* versions come with keys (heap_keys.h) */
	GpuSortSharedFile file;
	GpuSortTurns turns;
	pg_atomic_uint64 written;	/* versions */
} GpuSortHeapSlices;

/*
 * Cut a sorted table into slices; false if it is not worth it, since most of them would be the leader's.
 */
extern bool gpusort_heap_slices_init(GpuSortHeapSlices *slices, const GpuSortHeapCopy *copy,
									 const GpuSortView *view, const GpuSortHeapFindings *findings);

/* How many there are. */
static inline uint64
gpusort_heap_slice_count(const GpuSortHeapSlices *slices)
{
	return (slices->rows + slices->step - 1) / slices->step;
}

/*
 * Put slices into the table until there are none.  The leader returns when all have their blocks; pages
 * of others may still be on their way.
 */
extern void gpusort_heap_slices_put(GpuSortHeapSlices *slices, Relation new_heap,
									GpuSortStorage *storage, const GpuSortView *view);

#endif							/* GPUSORT_HEAP_SLICES_H */
