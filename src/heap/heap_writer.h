/*
 * heap_writer.h
 *		Versions in order into the pages of a new table.
 */
#ifndef GPUSORT_HEAP_WRITER_H
#define GPUSORT_HEAP_WRITER_H

#include "access/htup.h"
#include "utils/rel.h"

typedef struct GpuSortHeapWriter GpuSortHeapWriter;

/* For a table without blocks.  In the current context. */
extern GpuSortHeapWriter *gpusort_heap_writer_begin(Relation heap);

/* The next version (heap_version.h), which no chain of updates leads to or from. */
extern void gpusort_heap_writer_put(GpuSortHeapWriter *writer, MinimalTuple version);

/* Write what is left, and make it durable. */
extern void gpusort_heap_writer_finish(GpuSortHeapWriter *writer);

#endif							/* GPUSORT_HEAP_WRITER_H */
