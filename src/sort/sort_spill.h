/*
 * sort_spill.h
 *		Writing sorted runs to temporary files, to make room for more rows.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_SPILL_H
#define GPUSORT_SORT_SPILL_H

#include "runs/runs.h"
#include "sort/sort.h"

/*
 * Make room for a row that could not be taken in: sort the rows in memory, write them as a run and
 * forget them.  Returns GPUSORT_HANDOVER_NONE if that was done, else why the row can't be taken in;
 * then the rows are still there.
 */
extern GpuSortHandover gpusort_make_room(GpuSort *sort);

/*
 * Sort the rows in memory, of which there are some, and write them as a run.  Returns
 * GPUSORT_HANDOVER_NONE, or why that can't be done.
 */
extern GpuSortHandover gpusort_spill_rows(GpuSort *sort);

/* Append the rows in memory, which are sorted, to the run that is being written. */
extern void gpusort_write_rows(GpuSort *sort, GpuSortRunFile *file);

#endif							/* GPUSORT_SORT_SPILL_H */
