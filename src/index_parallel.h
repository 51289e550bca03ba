/*
 * index_parallel.h
 *		Reading the table of an index build in several processes.
 */
#ifndef GPUSORT_INDEX_PARALLEL_H
#define GPUSORT_INDEX_PARALLEL_H

#include "index_build.h"

/* What the processes of a build share, apart from the workers' queues. */
typedef struct GpuSortParallelBuild GpuSortParallelBuild;

/*
 * Read the table with the planned workers' help, as gpusort_index_collect() does;
 * false if there are no workers to be had and nothing was done.
 */
extern bool gpusort_index_collect_parallel(GpuSortIndexBuild *build, double *live);

/*
 * To be called now and then by whoever scans: passes rows on, if this is a worker,
 * and takes rows of workers in, if this is the leader.
 */
extern void gpusort_index_exchange_rows(GpuSortIndexBuild *build);

/*
 * The next pages for this process to read; false if there are none left.
 */
extern bool gpusort_index_next_pages(GpuSortIndexBuild *build, BlockNumber nblocks,
									 BlockNumber *from, BlockNumber *end);

#endif							/* GPUSORT_INDEX_PARALLEL_H */
