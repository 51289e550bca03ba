/*
 * queues.h
 *		Queues from the workers of a job to its leader.
 *
 * There is one queue for each worker.  All have one size, and lie side by side in a chunk of the
 * shared memory (workers.h).  Whoever waits for something in them does so by
 * gpusort_worker_await_latch().
 */
#ifndef GPUSORT_QUEUES_H
#define GPUSORT_QUEUES_H

#include "storage/shm_mq.h"

#include "team/workers.h"

/* Returns the declaration of a chunk that is so many workers' queues. */
extern GpuSortChunk gpusort_queues_chunk(int workers, Size queue_bytes);

/*
 * Attaches the leader to the queues, once the workers are launched.  Returns an array with an entry
 * for each launched worker.
 */
extern shm_mq_handle **gpusort_queues_attach(char *chunk, Size queue_bytes,
											 const ParallelContext *context);

/* Attaches a worker to its queue. */
extern shm_mq_handle *gpusort_queues_join(char *chunk, Size queue_bytes, dsm_segment *segment);

#endif							/* GPUSORT_QUEUES_H */
