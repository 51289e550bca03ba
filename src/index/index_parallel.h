/*
 * index_parallel.h
 *		Several processes for one index build: reading the table.
 */
#ifndef GPUSORT_INDEX_PARALLEL_H
#define GPUSORT_INDEX_PARALLEL_H

#include "index/index_build.h"

/* What the processes of a build share, apart from the workers' queues. */
typedef struct GpuSortParallelBuild GpuSortParallelBuild;

/*
 * Read the table with the planned workers' help, as gpusort_index_collect() does;
 * false if there are no workers to be had and nothing was done.  The workers stay,
 * and this process in parallel mode, until gpusort_index_end_parallel().
 */
extern bool gpusort_index_collect_parallel(GpuSortIndexBuild *build, double *live);

/* Let the workers end, if there are any. */
extern void gpusort_index_end_parallel(GpuSortIndexBuild *build);

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

/*
 * So many pages more have been read, of so many in all.  Who reports to
 * pg_stat_progress_create_index does, for all processes.
 */
extern void gpusort_index_count_pages(GpuSortIndexBuild *build, BlockNumber pages,
									  BlockNumber nblocks);

#endif							/* GPUSORT_INDEX_PARALLEL_H */
