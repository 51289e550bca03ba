/*
 * load_workers.h
 *		Loading by the leader and parallel workers.
 */
#ifndef GPUSORT_LOAD_WORKERS_H
#define GPUSORT_LOAD_WORKERS_H

#include "load/load_state.h"

/* How many workers could take part, if there are so many chunks. */
extern int	gpusort_load_workers(const GpuSortLoadState *state, uint64 chunks);

/*
 * As gpusort_load_alone(), with so many workers, to the end of what can be loaded: what is not, is in the
 * buffer then, which may become a longer one.  false: nothing was done, as there are no workers to be had.
 */
extern bool gpusort_load_together(GpuSortLoadState *state, int nworkers);

#endif							/* GPUSORT_LOAD_WORKERS_H */
