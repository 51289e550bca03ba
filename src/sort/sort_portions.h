/*
 * sort_portions.h
 *		The rows of a sort that has spilled, back from its runs, a portion at a time.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_PORTIONS_H
#define GPUSORT_SORT_PORTIONS_H

#include "sort/sort.h"

/* All rows are in: write the last run, and find the portions; or why that can't be. */
extern GpuSortHandover gpusort_finish_spill(GpuSort *sort);

/* Have the portion in memory that has the row at a position, which exists. */
extern void gpusort_load_portion(GpuSort *sort, uint64 position);

#endif							/* GPUSORT_SORT_PORTIONS_H */
