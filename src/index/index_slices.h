/*
 * index_slices.h
 *		An index written by several processes.
 *
 * The sorted order is cut into slices.  Every process, the leader among them, takes
 * one after another, forms its leaf pages and writes them, WAL included.  What goes
 * to the leader is a note of each page: its block and its high key, of which the
 * leader makes the levels above.
 */
#ifndef GPUSORT_INDEX_SLICES_H
#define GPUSORT_INDEX_SLICES_H

#include "storage/dsm.h"
#include "storage/shm_mq.h"
#include "access/parallel.h"

#include "index/index_build.h"
#include "sort/sort_view.h"

/* In shared memory, of so many bytes; 0 bytes if slices can't be: no pool. */
typedef struct GpuSortSharedSlices GpuSortSharedSlices;

extern Size gpusort_slices_bytes(int workers);

/* By the leader, before the workers are launched. */
extern void gpusort_slices_init(GpuSortSharedSlices *shared, int workers);

/* By the leader, when they are; makes build->slices. */
extern void gpusort_slices_attach(GpuSortIndexBuild *build, GpuSortSharedSlices *shared,
								  ParallelContext *context);

/*
 * By the leader: write the index with the workers' help.  False if that can't be,
 * and nothing was done: there are no workers, the sort is not in the pool, or the
 * index is too small.
 */
extern bool gpusort_slices_write(GpuSortIndexBuild *build, const GpuSortView *view);

/* By the leader: let workers go that still wait for something to write. */
extern void gpusort_slices_end(GpuSortIndexBuild *build);

/*
 * By a worker, first and when it has read its share of the table.  The latter waits
 * until there is something to write or there will not be, and writes.
 */
extern shm_mq_handle *gpusort_slices_join(GpuSortSharedSlices *shared, dsm_segment *segment);
extern void gpusort_slices_work(GpuSortSharedSlices *shared, shm_mq_handle *queue,
								GpuSortIndexBuild *build);

#endif							/* GPUSORT_INDEX_SLICES_H */
