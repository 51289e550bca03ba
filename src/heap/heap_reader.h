/*
 * heap_reader.h
 *		The versions that a table's copy will have, from its pages into a sort.
 */
#ifndef GPUSORT_HEAP_READER_H
#define GPUSORT_HEAP_READER_H

#include "heap/heap_copy.h"
#include "sort/sort.h"

typedef struct GpuSortHeapReader GpuSortHeapReader;

/* In the current context, which releases it. */
extern GpuSortHeapReader *gpusort_heap_reader_begin(const GpuSortHeapCopy *copy, GpuSort *sort);

/* Read all pages; false if the sort must be given up. */
extern bool gpusort_heap_reader_read(GpuSortHeapReader *reader);

extern const GpuSortHeapCounts *gpusort_heap_reader_counts(const GpuSortHeapReader *reader);

/* Are there versions that chains of updates may lead to or from? */
extern bool gpusort_heap_reader_met_chains(const GpuSortHeapReader *reader);

/* Pages that have been read, and all. */
extern BlockNumber gpusort_heap_reader_pages(const GpuSortHeapReader *reader, BlockNumber *all);

extern void gpusort_heap_reader_end(GpuSortHeapReader *reader);

#endif							/* GPUSORT_HEAP_READER_H */
