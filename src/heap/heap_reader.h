/*
 * heap_reader.h
 *		The versions that a table's copy will have, from its pages into a sort.
 */
#ifndef GPUSORT_HEAP_READER_H
#define GPUSORT_HEAP_READER_H

#include "heap/heap_share.h"
#include "sort/sort.h"

typedef struct GpuSortHeapReader GpuSortHeapReader;

/*
 * In the current context, which releases it.  The sort may be a part of one (sort_parts.h).
 */
extern GpuSortHeapReader *gpusort_heap_reader_begin(const GpuSortHeapCopy *copy, GpuSort *sort,
													bool is_part);

/*
 * Read pages until there are none that other processes have not taken, or a version could not be put: then
 * all are to stop.  shows: the progress of all, to pg_stat_progress_cluster.
 */
extern void gpusort_heap_reader_read(GpuSortHeapReader *reader, GpuSortHeapShare *share, bool shows);

extern void gpusort_heap_reader_end(GpuSortHeapReader *reader);

#endif							/* GPUSORT_HEAP_READER_H */
