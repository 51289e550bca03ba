/*
 * index_slices.h
 *		Writes an index by several processes.
 *
 * The sorted order is cut into slices.  Every process, the leader among them, takes one slice after
 * another, forms its leaf pages and writes them, WAL included.  The leader gets a note of each page
 * (index_notes.h), and makes the upper levels from these notes.
 */
#ifndef GPUSORT_INDEX_SLICES_H
#define GPUSORT_INDEX_SLICES_H

#include "btree/btree.h"
#include "btree/btree_storage.h"
#include "index/index_notes.h"
#include "index/index_stage.h"
#include "sort/sort_parts.h"

/* What the processes share; zero at first. */
typedef struct GpuSortSharedSlices
{
	/* set before the stage is WRITE */
	GpuSortSliceCuts cuts;

	/* protected by the index's extension lock */
	GpuSortSharedFile file;
	uint32		next;			/* slice that is taken next */
	BlockNumber left;			/* last block of the slice before `next` */
	BlockNumber first;			/* first and last of the blocks set aside for `next` */
	BlockNumber last;

	/*
	 * only if slices are portions of a spilled sort (index_portions.h); set before the stage is
	 * WRITE
	 */
	bool		by_portions;
	GpuSortSharedPortions portions;
	BlockNumber ends;			/* first of 2 blocks for each slice, its first and its last */
} GpuSortSharedSlices;

/* What the leader needs to write slices. */
typedef struct GpuSortIndexSlices
{
	GpuSortSharedSlices *shared;
	GpuSortStageControl *stage;
	GpuSortIndexNotes *notes;
} GpuSortIndexSlices;

/*
 * Write the index with the workers' help; called by the leader.  Returns the number of slices, or
 * 0, with nothing done, if the sort is not all in the pool or the index is too small.
 */
extern uint32 gpusort_slices_write(const GpuSortIndexSlices *slices,
								   const GpuSortIndexTarget *target, const GpuSortView *view);

/* Help the leader write, in a worker.  Notes of the pages go to the queue `notes`. */
extern void gpusort_slices_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								const GpuSortView *view, shm_mq_handle *notes);

#endif							/* GPUSORT_INDEX_SLICES_H */
