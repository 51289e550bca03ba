/*
 * worker_bound.h
 *		How many rows a worker is told to return to its Gather.
 */
#ifndef GPUSORT_WORKER_BOUND_H
#define GPUSORT_WORKER_BOUND_H

#include "executor/execdesc.h"

/*
 * Called in a worker: the number of rows that it was told is what a Limit wanted before the Gather
 * was rescanned, and must not be believed.
 */
extern void gpusort_worker_bound_is_old(void);

/*
 * Returns how many rows a query is to be run for, if the executor was asked to run it for `count`
 * rows; 0 means all.  The result differs from `count` only for a worker's part of a plan.
 */
extern uint64 gpusort_rows_to_run_for(QueryDesc *query, uint64 count);

#endif							/* GPUSORT_WORKER_BOUND_H */
