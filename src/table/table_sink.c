/*
 * table_sink.c
 *		Puts tuples into pages of tables: what does not depend on the kind of a sink; see table.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heaptoast.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "table/table_sink_private.h"

void
gpusort_table_begin_sink(GpuSortTableSink *sink, const GpuSortTableSinkMethods *methods)
{
	sink->methods = methods;
	sink->context = CurrentMemoryContext;
	sink->toast_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort toast",
												ALLOCSET_DEFAULT_SIZES);
}

/*
 * Fill in the header that all tuples of an owner begin with.  Those who form tuples have to
 * complete t_infomask2, t_infomask and t_hoff of each.
 */
static void
begin_header(HeapTupleHeader header, Relation heap, const GpuSortTableOwner *owner)
{
	memset(header, 0, SizeofHeapTupleHeader);
	HeapTupleHeaderSetXmin(header, owner->xid);
	HeapTupleHeaderSetCmin(header, owner->cid);
	header->t_infomask = HEAP_XMAX_INVALID;
	if (owner->frozen)
		HeapTupleHeaderSetXminFrozen(header);
	HeapTupleHeaderSetNatts(header, RelationGetNumberOfAttributes(heap));
}

void
gpusort_table_begin_tail(GpuSortTableTail *tail, GpuSortTableSink *sink, Relation heap,
						 const GpuSortTableOwner *owner, int toast_options)
{
	memset(tail, 0, sizeof(*tail));
	tail->sink = sink;
	tail->heap = heap;
	tail->save_bytes = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	tail->toast_options = toast_options;
	if (owner == NULL)
		return;
	begin_header(&tail->header, heap, owner);
	if (owner->frozen)
		tail->toast_options |= HEAP_INSERT_FROZEN;
}

HeapTupleHeader
gpusort_table_more_room(GpuSortTableTail *tail, uint32 length)
{
	return tail->sink->methods->more_room(tail, length);
}

/* ---------- the toaster ---------- */

HeapTupleHeader
gpusort_table_toaster_room(GpuSortTableTail *tail, uint32 length)
{
	GpuSortTableSink *sink = tail->sink;
	HeapTuple	tuple = MemoryContextAllocZero(sink->toast_context, HEAPTUPLESIZE + length);

	tuple->t_len = length;
	tuple->t_tableOid = RelationGetRelid(tail->heap);
	tuple->t_data = (HeapTupleHeader) ((char *) tuple + HEAPTUPLESIZE);
	ItemPointerSetInvalid(&tuple->t_self);
	sink->toasted = tuple;
	return tuple->t_data;
}

/*
 * Toasts the tuple, and puts it if it is short enough for a page.  Returns the length that it then
 * has there.
 */
static Size
toast(GpuSortTableTail *tail)
{
	GpuSortTableSink *sink = tail->sink;
	MemoryContext old = MemoryContextSwitchTo(sink->toast_context);
	HeapTuple	toasted;
	Size		length;

	ItemPointerSetInvalid(&sink->toasted->t_data->t_ctid);
	toasted = heap_toast_insert_or_update(tail->heap, sink->toasted, NULL, tail->toast_options);
	MemoryContextSwitchTo(old);
	length = MAXALIGN(toasted->t_len);
	if (length <= MaxHeapTupleSize)
		memcpy(gpusort_table_room(tail, toasted->t_len), toasted->t_data, toasted->t_len);
	MemoryContextReset(sink->toast_context);
	return length;
}

bool
gpusort_table_try_toast(GpuSortTableTail *tail)
{
	return toast(tail) <= MaxHeapTupleSize;
}

void
gpusort_table_toast(GpuSortTableTail *tail)
{
	Size		length = toast(tail);

	if (length > MaxHeapTupleSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row is too big: size %zu, maximum size %zu", length, MaxHeapTupleSize)));
}

/* ---------- into the tables ---------- */

void
gpusort_table_sink_continue(GpuSortTableSink *sink)
{
	if (sink->methods->go_on != NULL)
		sink->methods->go_on(sink);
}

void
gpusort_table_sink_place(GpuSortTableSink *sink, bool put_off, bool decode_end)
{
	sink->methods->place(sink, put_off, decode_end);
}

void
gpusort_table_sink_write(GpuSortTableSink *sink, bool keep_last, bool decode_end)
{
	sink->methods->write(sink, keep_last, decode_end);
}

void
gpusort_table_sink_forget(GpuSortTableSink *sink)
{
	sink->methods->forget(sink);
}

void
gpusort_table_sink_end(GpuSortTableSink *sink)
{
	sink->methods->end(sink);
	MemoryContextDelete(sink->toast_context);
}
