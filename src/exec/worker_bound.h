/*
 * worker_bound.h
 *		How many rows a worker is told to return to its Gather.
 */
#ifndef GPUSORT_WORKER_BOUND_H
#define GPUSORT_WORKER_BOUND_H

#include "executor/execdesc.h"

/* In a worker: what it is told is what a Limit wanted before the Gather was rescanned. */
extern void gpusort_worker_bound_is_old(void);

/*
 * How many rows a query is to be run for that was to be run for so many; 0: all.  Another number
 * for a worker's part of a plan only.
 */
extern uint64 gpusort_rows_to_run_for(QueryDesc *query, uint64 count);

#endif							/* GPUSORT_WORKER_BOUND_H */
