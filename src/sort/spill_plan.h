/*
 * spill_plan.h
 *		How a sort that is going to spill divides its memory of the pool.
 *
 * Rows that come in need keys, and room to be put in order; in a run they don't.  So if all of a
 * sort will not fit, rows are collected in a small part of the memory, the buffer, and runs stay in
 * the rest; what that does not hold goes to temporary files.  A sort of somewhat more than fits writes
 * nothing.
 *
 * The buffer is as large as it takes to have long stretches when the runs are read back: in as much
 * memory, one from each run.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SPILL_PLAN_H
#define GPUSORT_SPILL_PLAN_H

#include "sort/sort_state.h"

/*
 * Before there is room for so many rows: is it better to divide the memory?  That is found out as
 * late as can be, as there may be fewer rows than expected: when half of it is taken.  What is in
 * it then fits as a run into the other half.
 */
extern void gpusort_plan_spill(GpuSort *sort, uint64 rows);

/* The same when all of it is taken, though all rows were going to fit. */
extern void gpusort_plan_spill_late(GpuSort *sort);

/* Would so many rows, of which the row store takes so many bytes, be more than the buffer holds? */
extern bool gpusort_exceeds_buffer(GpuSort *sort, uint64 rows, size_t row_bytes);

#endif							/* GPUSORT_SPILL_PLAN_H */
