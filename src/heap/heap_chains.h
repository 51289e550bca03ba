/*
 * heap_chains.h
 *		Versions in order into a new table, some of which chains of updates lead to or from.
 */
#ifndef GPUSORT_HEAP_CHAINS_H
#define GPUSORT_HEAP_CHAINS_H

#include "access/htup.h"

#include "heap/heap_copy.h"

typedef struct GpuSortHeapChains GpuSortHeapChains;

extern GpuSortHeapChains *gpusort_heap_chains_begin(const GpuSortHeapCopy *copy);
extern void gpusort_heap_chains_put(GpuSortHeapChains *chains, MinimalTuple version);
extern void gpusort_heap_chains_finish(GpuSortHeapChains *chains);

#endif							/* GPUSORT_HEAP_CHAINS_H */
