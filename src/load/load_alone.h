/*
 * load_alone.h
 *		Loading by one process.
 */
#ifndef GPUSORT_LOAD_ALONE_H
#define GPUSORT_LOAD_ALONE_H

#include "load/load_state.h"

typedef enum GpuSortLoadEnd
{
	GPUSORT_LOADED_ALL,
	GPUSORT_LOADED_ENOUGH,		/* as many bytes as were asked for */
	GPUSORT_LOADED_TO_REST		/* the rest is PostgreSQL's to look at */
} GpuSortLoadEnd;

/*
 * Load records from the state's buffer and source, until so many bytes were read.  What is not loaded is
 * in the buffer then, and in the source.
 */
extern GpuSortLoadEnd gpusort_load_alone(GpuSortLoadState *state, uint64 limit);

#endif							/* GPUSORT_LOAD_ALONE_H */
