/*
 * sort_rows.h
 *		Sorting the rows that are in memory: engine, refinement, verification.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_ROWS_H
#define GPUSORT_SORT_ROWS_H

#include "sort/sort.h"

/*
 * Find the order of the rows in memory.  Returns GPUSORT_HANDOVER_NONE, or why there is none; then
 * rows, and where they lie, are what they were.
 */
extern GpuSortHandover gpusort_sort_rows(GpuSort *sort);

#endif							/* GPUSORT_SORT_ROWS_H */
