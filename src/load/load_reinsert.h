/*
 * load_reinsert.h
 *		Putting rows into the indexes of their tables one by one, in the order of their lines.
 */
#ifndef GPUSORT_LOAD_REINSERT_H
#define GPUSORT_LOAD_REINSERT_H

#include "load/load_refusal.h"
#include "load/load_state.h"

/*
 * Inserts into the indexes all rows that were loaded into a table that was empty, or into
 * partitions whose indexes were not built; raises errors as COPY does.  If *refused has a row that
 * was refused, stops at this row.
 */
extern void gpusort_load_reinsert(const GpuSortLoadState *state, const GpuSortRefusedRow *refused);

#endif							/* GPUSORT_LOAD_REINSERT_H */
