/*
 * portion_load.h
 *		One portion of runs into memory, in order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PORTION_LOAD_H
#define GPUSORT_PORTION_LOAD_H

#include "runs/run_file.h"
#include "sort/sort.h"

/*
 * Let the sort have the rows of a portion, which lie between two places of each run, and no others,
 * and sort them; false if there is no memory for that.
 */
extern bool gpusort_portion_load(GpuSort *sort, const GpuSortRun **runs, uint32 nruns,
								 const GpuSortRunPlace *from, const GpuSortRunPlace *to);

#endif							/* GPUSORT_PORTION_LOAD_H */
