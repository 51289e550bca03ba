/*
 * sort_workers.h
 *		Parallel workers that help one process to put its rows in order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_WORKERS_H
#define GPUSORT_SORT_WORKERS_H

#include "sort/sort.h"

/*
 * Start workers as the team of a sort that has none, if that pays for so many rows.  Returns false
 * if it does not, or if no workers are to be had.
 */
extern bool gpusort_start_sort_workers(GpuSort *sort, uint64 rows);

/* End the workers, if some were started, when the rows are in order. */
extern void gpusort_end_sort_workers(GpuSort *sort);

#endif							/* GPUSORT_SORT_WORKERS_H */
