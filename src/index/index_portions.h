/*
 * index_portions.h
 *		An index written by several processes from rows in temporary files.
 *
 * A slice (index_slices.h) is a portion of the sort's runs (sort/portion_share.h), which the process
 * that takes it reads back, sorts and judges, window by window, before it forms the pages.  Portions
 * don't divide rows that are equal in all key columns, so neither uniqueness nor posting lists
 * cross their edges.
 */
#ifndef GPUSORT_INDEX_PORTIONS_H
#define GPUSORT_INDEX_PORTIONS_H

#include "index/index_slices.h"

/* Before the sort is performed: should it spill, have portions that can be slices. */
extern void gpusort_divide_index(GpuSort *sort, const GpuSortIndexTarget *target);

/*
 * By the leader: write the index with the workers' help.  Returns the number of slices; 0 if that
 * can't be, and nothing was done.
 */
extern uint32 gpusort_portions_write(const GpuSortIndexSlices *slices,
									 const GpuSortIndexTarget *target, GpuSort *sort);

/* By a worker: help to write; notes go to its queue. */
extern void gpusort_portions_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								  shm_mq_handle *notes);

#endif							/* GPUSORT_INDEX_PORTIONS_H */
