/*
 * index_portions.h
 *		Writes an index by several processes, from rows in temporary files.
 *
 * Here a slice (index_slices.h) is a portion of the sort's runs (sort/sort_parts.h).  The
 * process that takes it reads it back, sorts it and checks its uniqueness, window by window, and
 * forms its pages.  Portions never divide rows that are equal in all key columns, so neither
 * uniqueness nor posting lists cross their edges.
 */
#ifndef GPUSORT_INDEX_PORTIONS_H
#define GPUSORT_INDEX_PORTIONS_H

#include "index/index_slices.h"

/*
 * Make the sort divide its rows into portions that can be slices, should it spill.  Called before
 * the sort is performed.
 */
extern void gpusort_divide_index(GpuSort *sort, const GpuSortIndexTarget *target);

/*
 * Write the index with the workers' help; called by the leader.  Returns the number of slices, or
 * 0, with nothing done, if the portions can't be shared with workers.
 */
extern uint32 gpusort_portions_write(const GpuSortIndexSlices *slices,
									 const GpuSortIndexTarget *target, GpuSort *sort);

/* Help the leader write, in a worker.  Notes of the pages go to the queue `notes`. */
extern void gpusort_portions_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								  shm_mq_handle *notes);

#endif							/* GPUSORT_INDEX_PORTIONS_H */
