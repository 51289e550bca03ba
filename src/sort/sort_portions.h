/*
 * sort_portions.h
 *		Reading back the rows of a sort that has spilled, a portion at a time.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_PORTIONS_H
#define GPUSORT_SORT_PORTIONS_H

#include "sort/sort.h"

/*
 * Write the last run, when all rows are in, and find the portions.  Returns GPUSORT_HANDOVER_NONE,
 * or why the rows can't be written.
 */
extern GpuSortHandover gpusort_finish_spill(GpuSort *sort);

/* Make the portion that has the row at a position, which exists, the window. */
extern void gpusort_load_portion(GpuSort *sort, uint64 position);

#endif							/* GPUSORT_SORT_PORTIONS_H */
