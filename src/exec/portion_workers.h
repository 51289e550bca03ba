/*
 * portion_workers.h
 *		Parallel workers that load portions of a spilled sort, for the node that returns its rows.
 *
 * The workers that have collected the rows have ended with their Gather.  The node starts portion
 * workers itself, if the query runs in parallel mode; they end when its last row was read, or with
 * the node.
 */
#ifndef GPUSORT_PORTION_WORKERS_H
#define GPUSORT_PORTION_WORKERS_H

#include "sort/sort.h"

typedef struct GpuSortPortionWorkers GpuSortPortionWorkers;

/*
 * Starts workers that load the portions of a performed sort, whose rows and sort key are described
 * by desc and spec.  Returns NULL if there are no portions to load, or no workers to be had.  The
 * result is allocated in the current memory context.
 */
extern GpuSortPortionWorkers *gpusort_begin_portion_workers(GpuSort *sort, TupleDesc desc,
															const GpuSortSpec *spec);

/* Ends the workers.  The sort stays as it is: the rest of its rows is read without them. */
extern void gpusort_end_portion_workers(GpuSortPortionWorkers *workers);

#endif							/* GPUSORT_PORTION_WORKERS_H */
