/*
 * heap_writer.c
 *		Writes sorted versions into the pages of a new table; see heap_writer.h.
 *
 * This follows the rules of the server's rewrite_heap_tuple(): a page ends before the first tuple
 * that would leave less of it free than the fillfactor wants, and tuples that are long or have
 * values out of line go through the toaster.  But tuples are copied straight into their pages, and
 * many pages are logged in one record (btree_storage.h).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "utils/memutils.h"

#include "heap/heap_new_pages.h"
#include "heap/heap_version.h"
#include "heap/heap_writer.h"

/* Number of full pages that a process writes at a time, while they are in the CPU's cache. */
#define PAGES_AT_A_TIME		16

struct GpuSortHeapWriter
{
	Relation	heap;
	GpuSortNewPages pages;
	MemoryContext toast_context;	/* reset for each tuple that goes through the toaster */
};

GpuSortHeapWriter *
gpusort_heap_writer_begin(Relation heap, GpuSortStorage *storage)
{
	GpuSortHeapWriter *writer = palloc0(sizeof(GpuSortHeapWriter));

	writer->heap = heap;
	gpusort_new_pages_begin(&writer->pages, heap, storage, InvalidTransactionId);
	writer->toast_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort toast",
												  ALLOCSET_DEFAULT_SIZES);
	return writer;
}

void
gpusort_heap_writer_put_toasted(GpuSortHeapWriter *writer, MinimalTuple version)
{
	MemoryContext old = MemoryContextSwitchTo(writer->toast_context);
	uint32		length = gpusort_version_length(version);
	HeapTupleData tuple = {.t_len = length,.t_tableOid = RelationGetRelid(writer->heap)};
	HeapTuple	toasted;

	tuple.t_data = palloc(length);
	gpusort_version_unpack(version, length, (char *) tuple.t_data);
	ItemPointerSetInvalid(&tuple.t_self);
	ItemPointerSetInvalid(&tuple.t_data->t_ctid);
	toasted = heap_toast_insert_or_update(writer->heap, &tuple, NULL,
										  HEAP_INSERT_SKIP_FSM | HEAP_INSERT_NO_LOGICAL);
	if (MAXALIGN(toasted->t_len) > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu",
						MAXALIGN(toasted->t_len), MaxHeapTupleSize)));
	MemoryContextSwitchTo(old);
	memcpy(gpusort_new_pages_append(&writer->pages, toasted->t_len), toasted->t_data,
		   toasted->t_len);
	MemoryContextReset(writer->toast_context);
}

bool
gpusort_heap_writer_put(GpuSortHeapWriter *writer, MinimalTuple version)
{
	uint32		length = gpusort_version_length(version);

	if (unlikely(gpusort_heap_needs_toaster(version->t_infomask, length)))
		return false;
	gpusort_version_unpack(version, length,
						   (char *) gpusort_new_pages_append(&writer->pages, length));
	return true;
}

void
gpusort_heap_writer_advance(GpuSortHeapWriter *writer)
{
	if (writer->pages.count > PAGES_AT_A_TIME)
		gpusort_new_pages_write_full(&writer->pages);
}

void
gpusort_heap_writer_claim(GpuSortHeapWriter *writer)
{
	gpusort_new_pages_claim(&writer->pages);
}

void
gpusort_heap_writer_write(GpuSortHeapWriter *writer)
{
	gpusort_new_pages_write(&writer->pages);
}

void
gpusort_heap_writer_drop(GpuSortHeapWriter *writer)
{
	gpusort_new_pages_drop(&writer->pages);
}
