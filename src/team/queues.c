/*
 * queues.c
 *		Queues from the workers of a job to its leader; see queues.h.
 */
#include "postgres.h"

#include "storage/proc.h"

#include "team/queues.h"

static bool
fill_queues(void *chunk, const GpuSortChunk *declared, ParallelContext *context)
{
	Size		queue_bytes = declared->bytes / context->nworkers;

	for (int i = 0; i < context->nworkers; i++)
		shm_mq_set_receiver(shm_mq_create((char *) chunk + i * queue_bytes, queue_bytes), MyProc);
	return true;
}

GpuSortChunk
gpusort_queues_chunk(int workers, Size queue_bytes)
{
	return (GpuSortChunk) {mul_size(queue_bytes, workers), fill_queues};
}

shm_mq_handle **
gpusort_queues_attach(char *chunk, Size queue_bytes, const ParallelContext *context)
{
	shm_mq_handle **queues = palloc(context->nworkers_launched * sizeof(shm_mq_handle *));

	for (int i = 0; i < context->nworkers_launched; i++)
		queues[i] = shm_mq_attach((shm_mq *) (chunk + i * queue_bytes), context->seg,
								  context->worker[i].bgwhandle);
	return queues;
}

shm_mq_handle *
gpusort_queues_join(char *chunk, Size queue_bytes, dsm_segment *segment)
{
	shm_mq	   *queue = (shm_mq *) (chunk + ParallelWorkerNumber * queue_bytes);

	shm_mq_set_sender(queue, MyProc);
	return shm_mq_attach(queue, segment, NULL);
}
