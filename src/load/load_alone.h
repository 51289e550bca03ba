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
	GPUSORT_LOADED_ENOUGH,		/* the source has delivered as many bytes as asked for */
	GPUSORT_LOADED_TO_REST		/* PostgreSQL's COPY has to go on from here */
} GpuSortLoadEnd;

/*
 * Loads records from the state's buffer and source, in this process, until the source has delivered
 * "limit" bytes, or until the next record has to be left to PostgreSQL.  What has not been loaded
 * by then is in the buffer, from state->begin on, and in the source.
 */
extern GpuSortLoadEnd gpusort_load_alone(GpuSortLoadState *state, uint64 limit);

#endif							/* GPUSORT_LOAD_ALONE_H */
