/*
 * load_build.h
 *		Filling the indexes of tables that were empty, when all rows are there.
 */
#ifndef GPUSORT_LOAD_BUILD_H
#define GPUSORT_LOAD_BUILD_H

#include "load/load_state.h"

/*
 * Fills the indexes of the table that was loaded, or of its partitions.  If something is wrong with
 * a row, for example that its key is there already, raises the error that PostgreSQL's COPY would
 * raise at this row, with its line.
 */
extern void gpusort_load_build_indexes(GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_BUILD_H */
