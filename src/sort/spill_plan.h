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
 * While rows come in, and before the first run: is it better to divide the memory?  is_full: it is full, so that
 * there are more rows than expected.
 */
extern void gpusort_plan_spill(GpuSort *sort, bool is_full);

/* Would so many rows, of which the row store takes so many bytes, be more than the buffer holds? */
extern bool gpusort_exceeds_buffer(GpuSort *sort, uint64 rows, size_t row_bytes);

#endif							/* GPUSORT_SPILL_PLAN_H */
