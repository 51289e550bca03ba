/*
 * heap_chains.h
 *		Writes sorted versions into a new table, if chains of updates lead from some of them to
 *		others.
 */
#ifndef GPUSORT_HEAP_CHAINS_H
#define GPUSORT_HEAP_CHAINS_H

#include "access/htup.h"

#include "heap/heap_copy.h"

typedef struct GpuSortHeapChains GpuSortHeapChains;

/* Begin, put the versions in the order in which they are to be written, and finish. */
extern GpuSortHeapChains *gpusort_heap_chains_begin(const GpuSortHeapCopy *copy);
extern void gpusort_heap_chains_put(GpuSortHeapChains *chains, MinimalTuple version);
extern void gpusort_heap_chains_finish(GpuSortHeapChains *chains);

#endif							/* GPUSORT_HEAP_CHAINS_H */
