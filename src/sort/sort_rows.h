/*
 * sort_rows.h
 *		Sorting the rows that are in memory: engine, refinement, verification.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_ROWS_H
#define GPUSORT_SORT_ROWS_H

#include "sort/sort.h"

/* The order is found; or why not, and then rows and their places are what they were. */
extern GpuSortHandover gpusort_sort_rows(GpuSort *sort);

#endif							/* GPUSORT_SORT_ROWS_H */
