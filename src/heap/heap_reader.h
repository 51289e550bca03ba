/*
 * heap_reader.h
 *		Reads the versions that a table's copy will have from the old table's pages into a sort.
 */
#ifndef GPUSORT_HEAP_READER_H
#define GPUSORT_HEAP_READER_H

#include "heap/heap_share.h"
#include "sort/sort.h"

typedef struct GpuSortHeapReader GpuSortHeapReader;

/*
 * Begin to read, with memory of the current context.  `sort` is a sort, or a part of a shared sort
 * (sort_parts.h) if `is_part`.
 */
extern GpuSortHeapReader *gpusort_heap_reader_begin(const GpuSortHeapCopy *copy, GpuSort *sort,
													bool is_part);

/*
 * Read pages until none are left that no other process has taken, or until a version could not be
 * put, in which case all processes stop.  With `shows`, this process reports the progress of all to
 * pg_stat_progress_cluster.
 */
extern void gpusort_heap_reader_read(GpuSortHeapReader *reader, GpuSortHeapShare *share,
									 bool shows);

/* Release what does not go away with the memory context. */
extern void gpusort_heap_reader_end(GpuSortHeapReader *reader);

#endif							/* GPUSORT_HEAP_READER_H */
