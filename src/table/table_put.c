/*
 * table_put.c
 *		Puts rows into the blocks of a table that is in use; see table_sink_private.h.
 *
 * A block that was claimed is an empty page, and the server's own inserts take over any empty page
 * that they come upon.  So, when we lock a claimed block to write it, we look whether it is still
 * empty; if not, the page gets another block.  That may cost the order that several processes have
 * agreed on, but it happens only if other sessions insert into the table at the same time.
 */
#include "postgres.h"

#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"

#include "pg_compat/tables.h"
#include "table/table_sink_private.h"

void
gpusort_table_ring_begin(GpuSortTableRing *ring, const GpuSortTableBuffers *buffers)
{
	ring->buffers = *buffers;
	ring->strategy = GetAccessStrategy(BAS_BULKWRITE);
}

bool
gpusort_table_lock_if_empty(Relation heap, GpuSortTableRing *ring, BlockNumber block,
							Buffer *buffer)
{
	BufferAccessStrategy strategy = gpusort_table_strategy(ring);

	if (ring->buffers.is_new)
	{
		/* what was claimed in the file alone need not be read: it is known to be zeros */
		*buffer = ReadBufferExtended(heap, MAIN_FORKNUM, block, RBM_ZERO_AND_LOCK, strategy);
	}
	else
	{
		*buffer = ReadBufferExtended(heap, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
		LockBuffer(*buffer, BUFFER_LOCK_EXCLUSIVE);
	}
	if (PageIsNew(BufferGetPage(*buffer)))
	{
		if (ring->buffers.kept > 0)
			ring->buffers.kept--;
		return true;
	}
	UnlockReleaseBuffer(*buffer);
	return false;
}

Buffer
gpusort_table_lock_empty(Relation heap, GpuSortTableRing *ring, BlockNumber *block)
{
	Buffer		buffer;

	while (!gpusort_table_lock_if_empty(heap, ring, *block, &buffer))
		gpusort_extend_relation(heap, gpusort_table_strategy(ring), block, 1);
	return buffer;
}

OffsetNumber
gpusort_table_put_row(Page page, BlockNumber block, HeapTupleHeader row, uint32 length)
{
	OffsetNumber offset = PageAddItem(page, (char *) row, length, InvalidOffsetNumber, false, true);
	HeapTupleHeader tuple;

	if (offset == InvalidOffsetNumber)
		elog(PANIC, "failed to add tuple to page");
	tuple = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, offset));
	ItemPointerSet(&tuple->t_ctid, block, offset);
	if (!HeapTupleHeaderXminFrozen(tuple))
		gpusort_page_set_inserted(page, HeapTupleHeaderGetRawXmin(tuple));
	return offset;
}

void
gpusort_table_log_begin(GpuSortTableLog *log, Relation heap)
{
	log->use_wal = RelationNeedsWAL(heap);
	log->decoded = RelationIsLogicallyLogged(heap);
	log->frozen = false;
	log->map = InvalidBuffer;
}

/* Append a tuple to the data of a multi-insert's record.  Returns the end of the data. */
static char *
log_tuple(Page page, OffsetNumber offset, char *data)
{
	ItemId		item = PageGetItemId(page, offset);
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
	int			length = ItemIdGetLength(item) - SizeofHeapTupleHeader;
	xl_multi_insert_tuple *logged = (xl_multi_insert_tuple *) SHORTALIGN(data);

	logged->datalen = length;
	logged->t_infomask2 = tuple->t_infomask2;
	logged->t_infomask = tuple->t_infomask;
	logged->t_hoff = tuple->t_hoff;
	data = (char *) logged + SizeOfMultiInsertTuple;
	memcpy(data, (char *) tuple + SizeofHeapTupleHeader, length);
	return data + length;
}

void
gpusort_table_log_rows(GpuSortTableLog *log, Buffer buffer, const OffsetNumber *offsets, int count,
					   bool decode_end)
{
	Page		page = BufferGetPage(buffer);
	xl_heap_multi_insert *record = (xl_heap_multi_insert *) log->record.data;
	Size		header = SizeOfHeapMultiInsert +
		(offsets != NULL ? count * sizeof(OffsetNumber) : 0);
	char	   *data = log->record.data + header;
	char	   *end = data;
	int			flags = REGBUF_STANDARD | (offsets == NULL ? REGBUF_WILL_INIT : 0);
	XLogRecPtr	end_of_record;

	record->flags = decode_end ? XLH_INSERT_LAST_IN_MULTI : 0;
	record->ntuples = count;
	if (offsets != NULL)
		memcpy(record->offsets, offsets, count * sizeof(OffsetNumber));
	for (int i = 0; i < count; i++)
		end = log_tuple(page, offsets != NULL ? offsets[i] : FirstOffsetNumber + i, end);
	if (log->frozen)
		record->flags |= XLH_INSERT_ALL_FROZEN_SET;
	if (log->decoded)
	{
		record->flags |= XLH_INSERT_CONTAINS_NEW_TUPLE;
		flags |= REGBUF_KEEP_DATA;
	}
	XLogBeginInsert();
	XLogRegisterData((char *) record, header);
	XLogRegisterBuffer(0, buffer, flags);
	if (BufferIsValid(log->map))
		XLogRegisterBuffer(1, log->map, 0);
	XLogRegisterBufData(0, data, end - data);
	XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
	end_of_record = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT |
							   (offsets == NULL ? XLOG_HEAP_INIT_PAGE : 0));
	PageSetLSN(page, end_of_record);
	if (BufferIsValid(log->map))
		PageSetLSN(BufferGetPage(log->map), end_of_record);
}
