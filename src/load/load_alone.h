/*
 * load_alone.h
 *		Loading by one process.
 */
#ifndef GPUSORT_LOAD_ALONE_H
#define GPUSORT_LOAD_ALONE_H

#include "load/load_state.h"

/*
 * Load records from the state's buffer and source.  false: what is in the buffer then, and the rest of the
 * source, is PostgreSQL's to look at.
 */
extern bool gpusort_load_alone(GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_ALONE_H */
