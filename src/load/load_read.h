/*
 * load_read.h
 *		Reading the input of a COPY FROM.
 */
#ifndef GPUSORT_LOAD_READ_H
#define GPUSORT_LOAD_READ_H

#include "load/load_state.h"

/* Read more of the input to where it shall be; returns how many bytes (gpusort_source_read()). */
extern Size gpusort_load_read(GpuSortLoadState *state, char *to, Size bytes);

#endif							/* GPUSORT_LOAD_READ_H */
