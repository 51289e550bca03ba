/*
 * shared_chunk.h
 *		Chunks of a parallel context's shared memory, which its workers look up by their keys.
 */
#ifndef GPUSORT_SHARED_CHUNK_H
#define GPUSORT_SHARED_CHUNK_H

#include "access/parallel.h"

/*
 * Adds n chunks, of bytes[0 .. n - 1] bytes, to the estimate of the shared memory's size.  To be
 * called before the memory is initialized.
 */
static inline void
gpusort_estimate_chunks(ParallelContext *context, const Size *bytes, int n)
{
	for (int i = 0; i < n; i++)
		shm_toc_estimate_chunk(&context->estimator, bytes[i]);
	shm_toc_estimate_keys(&context->estimator, n);
}

/* Allocates a chunk, whose size was estimated before, and enters it under this key. */
static inline void *
gpusort_make_chunk(ParallelContext *context, uint64 key, Size bytes)
{
	void	   *chunk = shm_toc_allocate(context->toc, bytes);

	shm_toc_insert(context->toc, key, chunk);
	return chunk;
}

#endif							/* GPUSORT_SHARED_CHUNK_H */
