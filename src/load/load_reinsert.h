/*
 * load_reinsert.h
 *		Rows into the indexes of their tables, one by one, in the order of their lines.
 */
#ifndef GPUSORT_LOAD_REINSERT_H
#define GPUSORT_LOAD_REINSERT_H

#include "load/load_refusal.h"
#include "load/load_state.h"

/*
 * All rows that were loaded into a table that was empty, or into partitions whose indexes were not built, with errors as COPY's.
 * Not those behind a row that was refused, if there is one.
 */
extern void gpusort_load_reinsert(const GpuSortLoadState *state, const GpuSortRefusedRow *refused);

#endif							/* GPUSORT_LOAD_REINSERT_H */
