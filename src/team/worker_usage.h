/*
 * worker_usage.h
 *		What workers are told about the statement that they work for, and what they use for it.
 *
 * Like the server's own parallel workers, ours show the statement in pg_stat_activity, and the
 * buffers and WAL that they use are counted as the leader's.
 */
#ifndef GPUSORT_WORKER_USAGE_H
#define GPUSORT_WORKER_USAGE_H

#include "access/parallel.h"

/*
 * Called by the leader, before the shared memory is initialized and when it has been: estimate the
 * chunks for the statement and the usage of workers, and fill them in.
 */
extern void gpusort_estimate_usage(ParallelContext *context);
extern void gpusort_make_usage(ParallelContext *context);

/*
 * Called by the leader: waits until all workers have ended, and adds what they have used to its own
 * usage.
 */
extern void gpusort_finish_workers(ParallelContext *context);

/* Called by a worker before and after its work. */
extern void gpusort_begin_worker(shm_toc *toc);
extern void gpusort_end_worker(shm_toc *toc);

#endif							/* GPUSORT_WORKER_USAGE_H */
