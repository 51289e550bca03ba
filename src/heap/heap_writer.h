/*
 * heap_writer.h
 *		Writes sorted versions into the pages of a new table.
 *
 * One process may write all of them, or several processes write slices of the order.
 */
#ifndef GPUSORT_HEAP_WRITER_H
#define GPUSORT_HEAP_WRITER_H

#include "access/htup_details.h"
#include "access/heaptoast.h"
#include "utils/rel.h"

#include "btree/btree_storage.h"

typedef struct GpuSortHeapWriter GpuSortHeapWriter;

/* Returns whether a version with this t_infomask and length has to go through the toaster. */
static inline bool
gpusort_heap_needs_toaster(uint16 infomask, uint32 length)
{
	return (infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD;
}

/*
 * Begin to write a table that has no blocks yet, in the current memory context, to which the
 * storage belongs, too.
 */
extern GpuSortHeapWriter *gpusort_heap_writer_begin(Relation heap, GpuSortStorage *storage);

/*
 * Put the next version (heap_version.h), which no chain of updates leads to or from.  Returns false
 * if the version needs the toaster, which workers can't use.
 */
extern bool gpusort_heap_writer_put(GpuSortHeapWriter *writer, MinimalTuple version);

/* Put the next version through the toaster. */
extern void gpusort_heap_writer_put_toasted(GpuSortHeapWriter *writer, MinimalTuple version);

/*
 * Write the full pages if there are enough of them.  For a process that writes alone, so that
 * everything it has put before already has its place.
 */
extern void gpusort_heap_writer_advance(GpuSortHeapWriter *writer);

/* For slices: make all pages the next blocks of the table, and then write them. */
extern void gpusort_heap_writer_claim(GpuSortHeapWriter *writer);
extern void gpusort_heap_writer_write(GpuSortHeapWriter *writer);

/* For slices: forget all pages. */
extern void gpusort_heap_writer_drop(GpuSortHeapWriter *writer);

#endif							/* GPUSORT_HEAP_WRITER_H */
