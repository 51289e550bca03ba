/*
 * load_read.h
 *		Reading the input of a COPY FROM.
 */
#ifndef GPUSORT_LOAD_READ_H
#define GPUSORT_LOAD_READ_H

#include "load/load_state.h"

/*
 * Reads up to "bytes" bytes of the input, and returns how many were read, as gpusort_source_read()
 * does.
 */
extern Size gpusort_load_read(GpuSortLoadState *state, char *to, Size bytes);

#endif							/* GPUSORT_LOAD_READ_H */
