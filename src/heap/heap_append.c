/*
 * heap_append.c
 *		Rows in bulk to the end of a table, by whole pages; see heap_append.h.
 *
 * A block that was claimed is empty, and the server's own inserts take over any empty page they come
 * upon.  So whether it is still empty is looked at when it is locked to be written; if not, the
 * page gets another block at the end.  That costs the order that was agreed on, and happens only beside
 * other writers.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/rel.h"

#include "heap/heap_append.h"
#include "pg_compat/tables.h"

/* Private pages are made so many at a time. */
#define PAGES_MADE	16

typedef struct GpuSortAppendTarget
{
	bool		use_wal;
	bool		decoded;		/* the rows are of interest to logical decoding */
	BufferAccessStrategy strategy;
	PGAlignedBlock record;		/* the data of a WAL record */
} GpuSortAppendTarget;

GpuSortAppend *
gpusort_append_begin(Relation heap, const GpuSortAppendOwner *owner)
{
	GpuSortAppend *append = palloc0(sizeof(GpuSortAppend));
	GpuSortAppendTarget *target = palloc0(sizeof(GpuSortAppendTarget));
	HeapTupleHeader header = &append->header;

	append->heap = heap;
	append->save_bytes = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	append->target = target;
	HeapTupleHeaderSetXmin(header, owner->xid);
	HeapTupleHeaderSetCmin(header, owner->cid);
	header->t_infomask = HEAP_XMAX_INVALID;
	HeapTupleHeaderSetNatts(header, RelationGetNumberOfAttributes(heap));

	target->use_wal = RelationNeedsWAL(heap);
	target->decoded = RelationIsLogicallyLogged(heap);
	target->strategy = GetAccessStrategy(BAS_BULKWRITE);
	return append;
}

/* ---------- private pages ---------- */

static void
make_pages(GpuSortAppend *append)
{
	int			made = append->made + PAGES_MADE;
	MemoryContext context = GetMemoryChunkContext(append);
	char	   *memory = MemoryContextAlloc(context, PAGES_MADE * BLCKSZ);

	if (append->made == 0)
	{
		append->pages = MemoryContextAlloc(context, made * sizeof(char *));
		append->blocks = MemoryContextAlloc(context, made * sizeof(BlockNumber));
	}
	else
	{
		append->pages = repalloc_huge(append->pages, made * sizeof(char *));
		append->blocks = repalloc_huge(append->blocks, made * sizeof(BlockNumber));
	}
	for (int i = 0; i < PAGES_MADE; i++)
		append->pages[append->made + i] = memory + i * BLCKSZ;
	append->made = made;
}

void
gpusort_append_new_page(GpuSortAppend *append)
{
	if (append->page.data != NULL)
		gpusort_heap_page_seal(&append->page);
	if (append->used == append->made)
		make_pages(append);
	gpusort_heap_page_begin(&append->page, append->pages[append->used++]);
}

void
gpusort_append_forget(GpuSortAppend *append)
{
	append->page.data = NULL;
	append->used = append->claimed = 0;
}

/* ---------- blocks ---------- */

void
gpusort_append_claim(GpuSortAppend *append)
{
	if (append->claimed < append->used)
		gpusort_extend_relation(append->heap, append->target->strategy, append->blocks + append->claimed,
								append->used - append->claimed);
	append->claimed = append->used;
}

/* The buffer of an empty block: the one that was claimed, or another one. */
static Buffer
lock_block(GpuSortAppend *append, BlockNumber *block)
{
	for (;;)
	{
		Buffer		buffer = ReadBufferExtended(append->heap, MAIN_FORKNUM, *block, RBM_NORMAL,
												append->target->strategy);

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		if (PageIsNew(BufferGetPage(buffer)))
			return buffer;
		UnlockReleaseBuffer(buffer);
		gpusort_extend_relation(append->heap, append->target->strategy, block, 1);
	}
}

/* ---------- writing ---------- */

/* A page's tuples as the record of a multi-insert has them; returns the end. */
static char *
collect_tuples(Page page, char *data)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
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
		data += length;
	}
	return data;
}

static void
log_page(GpuSortAppendTarget *target, Buffer buffer, bool decode_end)
{
	Page		page = BufferGetPage(buffer);
	xl_heap_multi_insert *record = (xl_heap_multi_insert *) target->record.data;
	char	   *data = target->record.data + SizeOfHeapMultiInsert;
	char	   *end = collect_tuples(page, data);
	int			flags = REGBUF_STANDARD | REGBUF_WILL_INIT;
	XLogRecPtr	end_of_record;

	record->flags = 0;
	record->ntuples = PageGetMaxOffsetNumber(page);
	if (decode_end)
		record->flags |= XLH_INSERT_LAST_IN_MULTI;
	if (target->decoded)
	{
		record->flags |= XLH_INSERT_CONTAINS_NEW_TUPLE;
		flags |= REGBUF_KEEP_DATA;
	}
	XLogBeginInsert();
	XLogRegisterData((char *) record, SizeOfHeapMultiInsert);
	XLogRegisterBuffer(0, buffer, flags);
	XLogRegisterBufData(0, data, end - data);
	XLogSetRecordFlags(XLOG_INCLUDE_ORIGIN);
	end_of_record = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_MULTI_INSERT | XLOG_HEAP_INIT_PAGE);
	PageSetLSN(page, end_of_record);
}

static void
write_page(GpuSortAppend *append, int i, bool decode_end)
{
	Buffer		buffer = lock_block(append, &append->blocks[i]);

	gpusort_heap_page_set_ctids(append->pages[i], append->blocks[i]);
	START_CRIT_SECTION();
	memcpy(BufferGetPage(buffer), append->pages[i], BLCKSZ);
	MarkBufferDirty(buffer);
	if (append->target->use_wal)
		log_page(append->target, buffer, decode_end);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* The page that is being filled becomes the first and only one. */
static void
keep_last_page(GpuSortAppend *append)
{
	char	   *page = append->pages[append->used - 1];

	append->pages[append->used - 1] = append->pages[0];
	append->pages[0] = page;
	append->blocks[0] = append->blocks[append->used - 1];
	append->claimed = Min(1, append->claimed - (append->used - 1));
	append->used = 1;
}

/* Others may find what the last page has room for. */
static void
tell_free_space(GpuSortAppend *append)
{
	int			last = append->used - 1;
	Size		space = PageGetHeapFreeSpace((Page) append->pages[last]);

	if (space > BLCKSZ / 5)
		RecordPageWithFreeSpace(append->heap, append->blocks[last], space);
}

void
gpusort_append_write(GpuSortAppend *append, bool keep_last, bool decode_end)
{
	int			count = append->used;

	if (count == 0)
		return;
	if (keep_last)
		count--;
	else
		gpusort_heap_page_seal(&append->page);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_page(append, i, decode_end && i == count - 1);
	}
	if (append->target->use_wal && count > 0)
		XLogSetAsyncXactLSN(GetXLogInsertRecPtr());
	if (keep_last)
		keep_last_page(append);
	else
	{
		tell_free_space(append);
		gpusort_append_forget(append);
	}
}

void
gpusort_append_end(GpuSortAppend *append)
{
	FreeAccessStrategy(append->target->strategy);
}
