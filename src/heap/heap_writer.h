/*
 * heap_writer.h
 *		Versions in order into the pages of a new table.
 *
 * One process may put all of them, or several write a table, each of them slices of the order.
 */
#ifndef GPUSORT_HEAP_WRITER_H
#define GPUSORT_HEAP_WRITER_H

#include "access/htup_details.h"
#include "access/heaptoast.h"
#include "utils/rel.h"

#include "btree/btree_storage.h"

typedef struct GpuSortHeapWriter GpuSortHeapWriter;

/* Does a version of so many bytes have to go through the toaster? */
static inline bool
gpusort_heap_needs_toaster(uint16 infomask, uint32 length)
{
	return (infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD;
}

/* For a table without blocks.  In the current context, which has the storage, too. */
extern GpuSortHeapWriter *gpusort_heap_writer_begin(Relation heap, GpuSortStorage *storage);

/*
 * The next version (heap_version.h), which no chain of updates leads to or from; false if that takes the
 * toaster, which workers do not have.
 */
extern bool gpusort_heap_writer_put(GpuSortHeapWriter *writer, MinimalTuple version);

/* The same, through the toaster. */
extern void gpusort_heap_writer_put_toasted(GpuSortHeapWriter *writer, MinimalTuple version);

/* Write the pages that are full, if there are some: all that was put before has its place. */
extern void gpusort_heap_writer_advance(GpuSortHeapWriter *writer);

/* Or, of a slice: all pages are the next blocks of the table, and then: write them. */
extern void gpusort_heap_writer_claim(GpuSortHeapWriter *writer);
extern void gpusort_heap_writer_write(GpuSortHeapWriter *writer);

/* Or forget them. */
extern void gpusort_heap_writer_drop(GpuSortHeapWriter *writer);

#endif							/* GPUSORT_HEAP_WRITER_H */
