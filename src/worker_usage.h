/*
 * worker_usage.h
 *		What workers are told of the statement that they are for, and what they use for it.
 *
 * As the server's own parallel workers, they show the statement in pg_stat_activity, and what they have
 * read and written counts as the leader's.
 */
#ifndef GPUSORT_WORKER_USAGE_H
#define GPUSORT_WORKER_USAGE_H

#include "access/parallel.h"

/* The leader's part of the shared memory: before it is initialized, and then. */
extern void gpusort_estimate_usage(ParallelContext *context);
extern void gpusort_make_usage(ParallelContext *context);

/* The leader waits until all workers have ended, and takes over what they have used. */
extern void gpusort_finish_workers(ParallelContext *context);

/* A worker, around what it does. */
extern void gpusort_begin_worker(shm_toc *toc);
extern void gpusort_end_worker(shm_toc *toc);

#endif							/* GPUSORT_WORKER_USAGE_H */
