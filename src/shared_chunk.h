/*
 * shared_chunk.h
 *		Pieces of a parallel context's shared memory, which its workers find by their keys.
 */
#ifndef GPUSORT_SHARED_CHUNK_H
#define GPUSORT_SHARED_CHUNK_H

#include "access/parallel.h"

/* Before the memory is initialized: there will be chunks of so many bytes. */
static inline void
gpusort_estimate_chunks(ParallelContext *context, const Size *bytes, int n)
{
	for (int i = 0; i < n; i++)
		shm_toc_estimate_chunk(&context->estimator, bytes[i]);
	shm_toc_estimate_keys(&context->estimator, n);
}

/* Of a size that was estimated before. */
static inline void *
gpusort_make_chunk(ParallelContext *context, uint64 key, Size bytes)
{
	void	   *chunk = shm_toc_allocate(context->toc, bytes);

	shm_toc_insert(context->toc, key, chunk);
	return chunk;
}

#endif							/* GPUSORT_SHARED_CHUNK_H */
