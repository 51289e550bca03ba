/*
 * heap_append.c
 *		Rows in bulk to the end of a table, by whole pages; see heap_append.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/rel.h"

#include "heap/heap_append.h"
#include "heap/heap_put.h"
#include "pg_compat/tables.h"

/* Private pages are made so many at a time. */
#define PAGES_MADE	16

typedef struct GpuSortAppendTarget
{
	BufferAccessStrategy strategy;
	GpuSortHeapLog log;
	Buffer		map;			/* the visibility map's page of the last block, if rows are frozen, or invalid */
} GpuSortAppendTarget;

GpuSortAppend *
gpusort_append_begin(Relation heap, const GpuSortAppendOwner *owner)
{
	GpuSortAppend *append = palloc0(sizeof(GpuSortAppend));
	GpuSortAppendTarget *target = palloc0(sizeof(GpuSortAppendTarget));

	append->heap = heap;
	append->save_bytes = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	append->target = target;
	gpusort_heap_begin_header(&append->header, heap, owner);
	gpusort_heap_log_begin(&target->log, heap);
	target->log.frozen = owner->frozen;
	target->map = InvalidBuffer;
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

/* ---------- writing ---------- */

/* Pin a block's place in the visibility map. */
static void
pin_map(GpuSortAppend *append, BlockNumber block)
{
	if (append->target->log.frozen)
		visibilitymap_pin(append->heap, block, &append->target->map);
}

/* A page that is locked gets what it is to have. */
static void
fill_page(GpuSortAppend *append, int i, Buffer buffer, bool decode_end)
{
	GpuSortAppendTarget *target = append->target;
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	memcpy(page, append->pages[i], BLCKSZ);
	MarkBufferDirty(buffer);
	if (BufferIsValid(target->log.map))
		gpusort_map_set_frozen(append->heap, append->blocks[i], buffer, target->map);
	if (target->log.use_wal)
		gpusort_heap_log_rows(&target->log, buffer, NULL, PageGetMaxOffsetNumber(page), decode_end);
	END_CRIT_SECTION();
}

static void
write_page(GpuSortAppend *append, int i, bool decode_end)
{
	GpuSortAppendTarget *target = append->target;
	Buffer		buffer;

	pin_map(append, append->blocks[i]);
	buffer = gpusort_heap_lock_empty(append->heap, target->strategy, &append->blocks[i]);
	/* it may be another block now */
	pin_map(append, append->blocks[i]);
	gpusort_heap_page_set_ctids(append->pages[i], append->blocks[i]);
	if (target->log.frozen)
		PageSetAllVisible((Page) append->pages[i]);
	if (target->log.frozen && GPUSORT_MAP_IS_IN_RECORD)
	{
		target->log.map = target->map;
		LockBuffer(target->map, BUFFER_LOCK_EXCLUSIVE);
	}
	fill_page(append, i, buffer, decode_end);
	if (BufferIsValid(target->log.map))
		LockBuffer(target->map, BUFFER_LOCK_UNLOCK);
	else if (target->log.frozen)
		gpusort_map_set_frozen(append->heap, append->blocks[i], buffer, target->map);
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
	if (append->target->log.use_wal && count > 0)
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
	if (BufferIsValid(append->target->map))
		ReleaseBuffer(append->target->map);
	FreeAccessStrategy(append->target->strategy);
}
