/*
 * index_slices.h
 *		An index written by several processes.
 *
 * The sorted order is cut into slices.  Every process, the leader among them, takes
 * one after another, forms its leaf pages and writes them, WAL included.  What goes
 * to the leader is a note of each page (index_notes.h), of which the leader makes the
 * levels above.
 */
#ifndef GPUSORT_INDEX_SLICES_H
#define GPUSORT_INDEX_SLICES_H

#include "btree/btree_slice_cuts.h"
#include "btree/btree_storage.h"
#include "btree/btree_target.h"
#include "index/index_notes.h"
#include "index/index_stage.h"
#include "sort/portion_share.h"

/* In shared memory, zero at first. */
typedef struct GpuSortSharedSlices
{
	/* set before the stage is WRITE */
	GpuSortSliceCuts cuts;

	/* protected by the index's extension lock */
	GpuSortSharedFile file;
	uint32		next;			/* slice */
	BlockNumber left;			/* last block of the slice before that */
	BlockNumber first;			/* blocks set aside for it */
	BlockNumber last;

	/* if slices are portions of a spilled sort (index_portions.h); set before the stage is WRITE */
	bool		by_portions;
	GpuSortSharedPortions portions;
	BlockNumber ends;			/* the first and the last block of each slice, side by side */
} GpuSortSharedSlices;

/* What the leader writes slices with. */
typedef struct GpuSortIndexSlices
{
	GpuSortSharedSlices *shared;
	GpuSortStageControl *stage;
	GpuSortIndexNotes *notes;
} GpuSortIndexSlices;

/*
 * By the leader: write the index with the workers' help.  Returns the number of slices;
 * 0 if that can't be, and nothing was done: the sort is not in the pool, or the
 * index is too small.
 */
extern uint32 gpusort_slices_write(const GpuSortIndexSlices *slices,
								   const GpuSortIndexTarget *target, const GpuSortView *view);

/* By a worker: help to write; notes go to its queue. */
extern void gpusort_slices_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								const GpuSortView *view, shm_mq_handle *notes);

#endif							/* GPUSORT_INDEX_SLICES_H */
