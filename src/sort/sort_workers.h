/*
 * sort_workers.h
 *		Parallel workers that help one process to put its rows in order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_WORKERS_H
#define GPUSORT_SORT_WORKERS_H

#include "engine/host/gs_sort.h"
#include "sort/sort.h"

/*
 * Run the engine with workers that are started for it; false if that does not pay, or if there are
 * none to be had: then it is to be run without.
 */
extern bool gpusort_sort_with_workers(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result);

#endif							/* GPUSORT_SORT_WORKERS_H */
