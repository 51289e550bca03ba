/*
 * index_queues.c
 *		Queues from the workers of an index build to its leader; see
 *		index_queues.h.
 */
#include "postgres.h"

#include "storage/proc.h"

#include "index/index_queues.h"

Size
gpusort_queues_bytes(int workers, Size queue_bytes)
{
	return mul_size(queue_bytes, workers);
}

void
gpusort_queues_init(char *space, int workers, Size queue_bytes)
{
	for (int i = 0; i < workers; i++)
		shm_mq_set_receiver(shm_mq_create(space + i * queue_bytes, queue_bytes), MyProc);
}

shm_mq_handle **
gpusort_queues_attach(char *space, Size queue_bytes, const ParallelContext *context)
{
	shm_mq_handle **queues = palloc(context->nworkers_launched * sizeof(shm_mq_handle *));

	for (int i = 0; i < context->nworkers_launched; i++)
		queues[i] = shm_mq_attach((shm_mq *) (space + i * queue_bytes), context->seg,
								  context->worker[i].bgwhandle);
	return queues;
}

shm_mq_handle *
gpusort_queues_join(char *space, Size queue_bytes, dsm_segment *segment)
{
	shm_mq	   *queue = (shm_mq *) (space + ParallelWorkerNumber * queue_bytes);

	shm_mq_set_sender(queue, MyProc);
	return shm_mq_attach(queue, segment, NULL);
}
