/*
 * shared_memory.h
 *		The shared memory of a GpuSort Shared node, and the memory of one execution.
 */
#ifndef GPUSORT_SHARED_MEMORY_H
#define GPUSORT_SHARED_MEMORY_H

#include "exec/shared_state.h"

/* Methods of the node that the server calls. */
extern Size gpusort_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpusort_initialize_shared(CustomScanState *css, ParallelContext *pcxt,
									  void *coordinate);
extern void gpusort_reinitialize_shared(CustomScanState *css, ParallelContext *pcxt,
										void *coordinate);
extern void gpusort_attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate);

/*
 * Called when the shared memory is about to go, and no further row will be fetched.  Workers may
 * still be running, if the leader has stopped early.
 */
extern void gpusort_detach_shared(CustomScanState *css);

/*
 * Returns the memory context of all that one execution allocates; and forgets that execution, with
 * its result.
 */
extern MemoryContext gpusort_shared_context(GpuSortSharedState *node);
extern void gpusort_shared_forget(GpuSortSharedState *node);

/* Keeps the counts of rows that participants have collected, for EXPLAIN. */
extern void gpusort_shared_keep_counts(GpuSortSharedState *node, const GpuSortCollectCounts *counts,
									   int participants);

#endif							/* GPUSORT_SHARED_MEMORY_H */
