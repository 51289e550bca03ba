/*
 * index_queues.h
 *		Queues from the workers of an index build to its leader.
 *
 * One for each worker, all of one size, side by side in shared memory.
 */
#ifndef GPUSORT_INDEX_QUEUES_H
#define GPUSORT_INDEX_QUEUES_H

#include "access/parallel.h"
#include "storage/shm_mq.h"

/* Shared memory for so many queues. */
extern Size gpusort_queues_bytes(int workers, Size queue_bytes);

/* By the leader, before it launches the workers. */
extern void gpusort_queues_init(char *space, int workers, Size queue_bytes);

/* By the leader, when they are launched: its ends, one for each launched worker. */
extern shm_mq_handle **gpusort_queues_attach(char *space, Size queue_bytes,
											 const ParallelContext *context);

/* By a worker: its end of its queue. */
extern shm_mq_handle *gpusort_queues_join(char *space, Size queue_bytes, dsm_segment *segment);

#endif							/* GPUSORT_INDEX_QUEUES_H */
