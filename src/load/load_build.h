/*
 * load_build.h
 *		The indexes of tables that were empty: filled when their rows are there.
 */
#ifndef GPUSORT_LOAD_BUILD_H
#define GPUSORT_LOAD_BUILD_H

#include "load/load_state.h"

/*
 * Those of the table, or of partitions.  What is wrong with a row, such as a key that is there already, is COPY's error: the one
 * that PostgreSQL's raises when it comes to this row.
 */
extern void gpusort_load_build_indexes(GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_BUILD_H */
