/*
 * load_reinsert.h
 *		The rows of a table into its indexes, one by one.
 */
#ifndef GPUSORT_LOAD_REINSERT_H
#define GPUSORT_LOAD_REINSERT_H

#include "load/load_state.h"

/*
 * Insert all rows that were loaded into a table that was empty into its indexes, with errors as COPY's.
 */
extern void gpusort_load_reinsert(const GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_REINSERT_H */
