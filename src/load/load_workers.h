/*
 * load_workers.h
 *		Loading by the leader and parallel workers.
 */
#ifndef GPUSORT_LOAD_WORKERS_H
#define GPUSORT_LOAD_WORKERS_H

#include "load/load_state.h"

/* Returns how many workers could take part in a load of so many chunks. */
extern int	gpusort_load_workers(const GpuSortLoadState *state, uint64 chunks);

/*
 * Loads all that can be loaded, by the leader and up to "nworkers" workers.  What can't be loaded
 * is in the buffer then, which may have been replaced by a longer one, and in the source.  Returns
 * false if no workers were to be had, and nothing was done.
 */
extern bool gpusort_load_together(GpuSortLoadState *state, int nworkers);

#endif							/* GPUSORT_LOAD_WORKERS_H */
