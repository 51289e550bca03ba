/*
 * spill_plan.h
 *		How a sort that is going to spill divides its memory of the pool.
 *
 * Rows that come in need keys, and room to be put in order; in a run they don't.  So if not all
 * rows of a sort will fit, rows are collected in a small part of the memory, the buffer, and runs
 * stay in the rest; runs that do not fit there go to temporary files.  A sort that is only somewhat
 * larger than memory writes nothing.
 *
 * The buffer is as large as it takes for long stretches when the runs are read back: a portion,
 * which takes as much memory as the buffer, has one stretch of each run.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SPILL_PLAN_H
#define GPUSORT_SPILL_PLAN_H

#include "sort/sort_state.h"

/*
 * Divide the memory, before there is room for `rows` rows, if that is better than going on.  This
 * is decided as late as possible, since there may be fewer rows than expected: when half of the
 * memory is taken.  The rows in it then fit as a run into the other half.
 */
extern void gpusort_plan_spill(GpuSort *sort, uint64 rows);

/* Divide the memory when all of it is taken, although all rows were expected to fit. */
extern void gpusort_plan_spill_late(GpuSort *sort);

/*
 * Returns whether `rows` rows, of which the row store takes row_bytes, would be more than the
 * buffer holds.
 */
extern bool gpusort_exceeds_buffer(GpuSort *sort, uint64 rows, size_t row_bytes);

#endif							/* GPUSORT_SPILL_PLAN_H */
