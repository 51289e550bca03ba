/*
 * index_queues.h
 *		Queues from the workers of an index build to its leader.
 *
 * There is one queue for each worker.  All are of one size and lie side by side in shared memory.
 */
#ifndef GPUSORT_INDEX_QUEUES_H
#define GPUSORT_INDEX_QUEUES_H

#include "access/parallel.h"
#include "storage/shm_mq.h"

/* Returns the size of the shared memory for so many workers' queues. */
extern Size gpusort_queues_bytes(int workers, Size queue_bytes);

/* Create the queues; called by the leader, before it launches the workers. */
extern void gpusort_queues_init(char *space, int workers, Size queue_bytes);

/*
 * Attach the leader to the queues, once the workers are launched.  Returns an array with an entry
 * for each launched worker.
 */
extern shm_mq_handle **gpusort_queues_attach(char *space, Size queue_bytes,
											 const ParallelContext *context);

/* Attach a worker to its queue. */
extern shm_mq_handle *gpusort_queues_join(char *space, Size queue_bytes, dsm_segment *segment);

#endif							/* GPUSORT_INDEX_QUEUES_H */
