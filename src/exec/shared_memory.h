/*
 * shared_memory.h
 *		The shared memory of a GpuSort Shared node, and what one execution has.
 */
#ifndef GPUSORT_SHARED_MEMORY_H
#define GPUSORT_SHARED_MEMORY_H

#include "exec/shared_state.h"

/* Methods of the node, for the server. */
extern Size gpusort_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpusort_initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
extern void gpusort_reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
extern void gpusort_attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate);

/*
 * The shared memory is about to go, and no other row will be fetched.  Workers may
 * still run, if the leader has stopped early.
 */
extern void gpusort_detach_shared(CustomScanState *css);

/* The context of all that an execution allocates; forget that execution, with its result. */
extern MemoryContext gpusort_shared_context(GpuSortSharedState *node);
extern void gpusort_shared_forget(GpuSortSharedState *node);

/* Keep, for EXPLAIN, how the participants have collected. */
extern void gpusort_shared_keep_counts(GpuSortSharedState *node, const GpuSortCollectCounts *counts,
									   int participants);

#endif							/* GPUSORT_SHARED_MEMORY_H */
