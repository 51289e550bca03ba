/*
 * portion_workers.h
 *		Parallel workers that load portions of a spilled sort, for the node that returns its rows.
 *
 * The workers that have collected the rows have ended with their Gather.  These are started by the
 * node itself, if the query runs in parallel mode, and end with its last row, or with the node.
 */
#ifndef GPUSORT_PORTION_WORKERS_H
#define GPUSORT_PORTION_WORKERS_H

#include "sort/sort.h"

typedef struct GpuSortPortionWorkers GpuSortPortionWorkers;

/*
 * Have workers load the portions of a performed sort of such rows; NULL: there are none, or none to
 * be had.  In the current context.
 */
extern GpuSortPortionWorkers *gpusort_begin_portion_workers(GpuSort *sort, TupleDesc desc,
															const GpuSortSpec *spec);

/* Let them end, while the sort stays as it is: the rest of its rows is read without them. */
extern void gpusort_end_portion_workers(GpuSortPortionWorkers *workers);

#endif							/* GPUSORT_PORTION_WORKERS_H */
