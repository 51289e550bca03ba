/*
 * heap_writer.c
 *		Versions in order into the pages of a new table; see heap_writer.h.
 *
 * What the server's rewrite_heap_tuple() does, by the same rules: a page ends before the first
 * tuple that would leave less of it free than the fillfactor wants; tuples that are long or
 * have values out of line go through the toaster.  But tuples are copied straight into
 * their pages, and pages are logged many in a record (btree_storage.h).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "utils/memutils.h"

#include "btree/btree_storage.h"
#include "heap/heap_page.h"
#include "heap/heap_version.h"
#include "heap/heap_writer.h"

struct GpuSortHeapWriter
{
	Relation	heap;
	GpuSortStorage *storage;
	Size		save_bytes;		/* of each page, for the fillfactor */
	BlockNumber block;			/* of page */
	GpuSortHeapPage page;
	MemoryContext toast_context;	/* reset for each tuple that goes through the toaster */
};

GpuSortHeapWriter *
gpusort_heap_writer_begin(Relation heap)
{
	GpuSortHeapWriter *writer = palloc0(sizeof(GpuSortHeapWriter));

	writer->heap = heap;
	writer->storage = gpusort_storage_begin(heap);
	writer->save_bytes = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	writer->toast_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort toast",
												  ALLOCSET_DEFAULT_SIZES);
	return writer;
}

static void
end_page(GpuSortHeapWriter *writer)
{
	gpusort_heap_page_seal(&writer->page);
	gpusort_storage_put_page(writer->storage, writer->block, writer->page.data);
	writer->page.data = NULL;
}

static void
begin_page(GpuSortHeapWriter *writer)
{
	writer->block = gpusort_storage_new_block(writer->storage);
	gpusort_heap_page_begin(&writer->page, gpusort_storage_get_page(writer->storage));
}

/* Room for a tuple on a page. */
static inline HeapTupleHeader
append(GpuSortHeapWriter *writer, uint32 length)
{
	if (writer->page.data != NULL &&
		MAXALIGN(length) + writer->save_bytes > gpusort_heap_page_space(&writer->page))
		end_page(writer);
	if (writer->page.data == NULL)
		begin_page(writer);
	return (HeapTupleHeader) gpusort_heap_page_append(&writer->page, length);
}

/* Let the tuple that was appended lead to itself. */
static inline void
set_ctid(GpuSortHeapWriter *writer, HeapTupleHeader tuple)
{
	ItemPointerSet(&tuple->t_ctid, writer->block, writer->page.nitems);
}

/* Put a version that needs the toaster. */
static pg_noinline void
put_toasted(GpuSortHeapWriter *writer, MinimalTuple version, uint32 length)
{
	MemoryContext old = MemoryContextSwitchTo(writer->toast_context);
	HeapTupleData tuple = {.t_len = length,.t_tableOid = RelationGetRelid(writer->heap)};
	HeapTuple	toasted;
	HeapTupleHeader placed;

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
	placed = append(writer, toasted->t_len);
	memcpy(placed, toasted->t_data, toasted->t_len);
	set_ctid(writer, placed);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->toast_context);
}

void
gpusort_heap_writer_put(GpuSortHeapWriter *writer, MinimalTuple version)
{
	uint32		length = gpusort_version_length(version);
	HeapTupleHeader placed;

	if (unlikely((version->t_infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD))
	{
		put_toasted(writer, version, length);
		return;
	}
	placed = append(writer, length);
	gpusort_version_unpack(version, length, (char *) placed);
	set_ctid(writer, placed);
}

void
gpusort_heap_writer_finish(GpuSortHeapWriter *writer)
{
	if (writer->page.data != NULL)
		end_page(writer);
	gpusort_storage_finish(writer->storage);
}
