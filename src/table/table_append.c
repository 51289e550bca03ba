/*
 * table_append.c
 *		Appends rows in bulk to the end of a table, by whole pages; see table.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "utils/rel.h"

#include "pg_compat/tables.h"
#include "table/table.h"
#include "table/table_put_private.h"

/* Private pages are allocated so many at a time. */
#define PAGES_MADE	16

typedef struct GpuSortAppendTarget
{
	BufferAccessStrategy strategy;
	GpuSortTableLog log;
	/* transaction that inserts the rows; see gpusort_table_page_begin() */
	TransactionId inserter;
	/* the visibility map's page for the last block written, if rows are frozen; else invalid */
	Buffer		map;
	Size		save_bytes;		/* save_bytes of a page that has no other rows */
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} GpuSortAppendTarget;

GpuSortAppend *
gpusort_table_append_begin(Relation heap, const GpuSortTableOwner *owner)
{
	GpuSortAppend *append = palloc0(sizeof(GpuSortAppend));
	GpuSortAppendTarget *target = palloc0(sizeof(GpuSortAppendTarget));

	append->heap = heap;
	append->save_bytes = target->save_bytes =
		RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	append->target = target;
	gpusort_table_begin_header(&append->header, heap, owner);
	gpusort_table_log_begin(&target->log, heap);
	target->log.frozen = owner->frozen;
	target->inserter = gpusort_table_inserter(owner);
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
gpusort_table_append_new_page(GpuSortAppend *append)
{
	if (append->page.data != NULL)
		gpusort_table_page_seal(&append->page);
	if (append->used == append->made)
		make_pages(append);
	gpusort_table_page_begin(&append->page, append->pages[append->used++],
							 append->target->inserter);
	append->save_bytes = append->target->save_bytes;
}

void
gpusort_table_append_forget(GpuSortAppend *append)
{
	append->page.data = NULL;
	append->used = append->claimed = 0;
	append->continues = false;
}

/* ---------- a block that has rows ---------- */

/*
 * Returns whether rows may be added to a page without a change of the visibility map.  If the rows
 * are frozen, the page's bits in the map stay as they are; PostgreSQL sets them when the page's
 * first rows are frozen.
 */
static bool
may_continue(const GpuSortAppend *append, Page page)
{
	return !PageIsNew(page) && PageGetMaxOffsetNumber(page) > 0 &&
		(append->target->log.frozen || !PageIsAllVisible(page));
}

/*
 * Begin a private page for rows that go to a block with other rows.  It is given just as much room,
 * and as many line pointers, as that block has left.
 */
static void
begin_rest_of_page(GpuSortAppend *append, BlockNumber block, Page page)
{
	Size		space = PageGetHeapFreeSpace(page);

	gpusort_table_append_new_page(append);
	append->save_bytes += gpusort_table_page_space(&append->page) - space;
	append->page.nitems = PageGetMaxOffsetNumber(page);
	append->blocks[0] = block;
	append->claimed = 1;
	append->continues = true;
}

void
gpusort_table_append_continue(GpuSortAppend *append)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(append->heap);
	BlockNumber block = RelationGetTargetBlock(append->heap);
	Buffer		buffer;

	Assert(append->used == 0);
	if (blocks == 0)
		return;
	if (block >= blocks)
		block = blocks - 1;
	buffer = ReadBufferExtended(append->heap, MAIN_FORKNUM, block, RBM_NORMAL,
								append->target->strategy);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (may_continue(append, BufferGetPage(buffer)))
		begin_rest_of_page(append, block, BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
}

/*
 * Returns whether the rows of a private page still fit into a page that has other rows.  Another
 * process may have added rows meanwhile.
 */
static bool
rows_fit(Page page, Page rows)
{
	OffsetNumber count = PageGetMaxOffsetNumber(rows);
	Size		bytes = BLCKSZ - ((PageHeader) rows)->pd_upper + count * sizeof(ItemIdData);

	return bytes <= PageGetExactFreeSpace(page) &&
		PageGetMaxOffsetNumber(page) + count <= MaxHeapTuplesPerPage;
}

/* Put the rows of a private page into a locked buffer that has other rows, and log them. */
static void
add_rows(GpuSortAppend *append, Buffer buffer, Page rows, bool decode_end)
{
	GpuSortAppendTarget *target = append->target;
	Page		page = BufferGetPage(buffer);
	OffsetNumber count = PageGetMaxOffsetNumber(rows);
	bool		frozen = target->log.frozen;

	/* the page has other rows, so it does not become all-frozen by these */
	target->log.frozen = false;
	target->log.map = InvalidBuffer;
	START_CRIT_SECTION();
	for (OffsetNumber i = FirstOffsetNumber; i <= count; i++)
	{
		ItemId		item = PageGetItemId(rows, i);

		target->offsets[i - FirstOffsetNumber] =
			gpusort_table_put_row(page, append->blocks[0],
								  (HeapTupleHeader) PageGetItem(rows, item), ItemIdGetLength(item));
	}
	MarkBufferDirty(buffer);
	if (target->log.use_wal)
		gpusort_table_log_rows(&target->log, buffer, target->offsets, count, decode_end);
	END_CRIT_SECTION();
	target->log.frozen = frozen;
}

/*
 * The free space map is told of a last page with more free space than this, so that later inserts
 * find it.
 */
#define SPACE_TOLD	(BLCKSZ / 5)

/*
 * Write the first private page's rows to the block that has other rows.  Returns false if there is
 * no longer room for them.
 */
static bool
write_rest_of_page(GpuSortAppend *append, bool decode_end)
{
	Page		rows = (Page) append->pages[0];
	Buffer		buffer;
	Size		before;
	Size		space;
	bool		fits;

	if (PageGetMaxOffsetNumber(rows) == 0)
		return true;
	buffer = ReadBufferExtended(append->heap, MAIN_FORKNUM, append->blocks[0], RBM_NORMAL,
								append->target->strategy);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	before = PageGetHeapFreeSpace(BufferGetPage(buffer));
	fits = may_continue(append, BufferGetPage(buffer)) && rows_fit(BufferGetPage(buffer), rows);
	if (fits)
		add_rows(append, buffer, rows, decode_end);
	space = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	/* the free space map may have a larger number for this page */
	if (fits && before > SPACE_TOLD)
		RecordPageWithFreeSpace(append->heap, append->blocks[0], space);
	return fits;
}

/* ---------- blocks ---------- */

void
gpusort_table_append_claim(GpuSortAppend *append)
{
	if (append->claimed < append->used)
		gpusort_extend_relation(append->heap, append->target->strategy,
								append->blocks + append->claimed, append->used - append->claimed);
	append->claimed = append->used;
}

/* ---------- writing ---------- */

/* Pin the visibility map's page for a block, if rows are frozen. */
static void
pin_map(GpuSortAppend *append, BlockNumber block)
{
	if (append->target->log.frozen)
		visibilitymap_pin(append->heap, block, &append->target->map);
}

/* Copy a private page into its buffer, which is locked, and log it. */
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
		gpusort_table_log_rows(&target->log, buffer, NULL, PageGetMaxOffsetNumber(page),
							   decode_end);
	END_CRIT_SECTION();
}

/*
 * Another process has taken the block of a private page.  The blocks claimed for the pages behind
 * it move up by one page, so that the blocks' order stays that of the rows, and the last page gets
 * a new block.
 */
static void
give_next_blocks(GpuSortAppend *append, int i)
{
	int			last = append->claimed - 1;

	memmove(append->blocks + i, append->blocks + i + 1, (last - i) * sizeof(BlockNumber));
	gpusort_extend_relation(append->heap, append->target->strategy, &append->blocks[last], 1);
}

/*
 * Returns the locked buffer of a private page's block, after another block was chosen if need be.
 */
static Buffer
lock_block(GpuSortAppend *append, int i)
{
	Buffer		buffer;

	while (!gpusort_table_lock_if_empty(append->heap, append->target->strategy, append->blocks[i],
										&buffer))
		give_next_blocks(append, i);
	return buffer;
}

/*
 * Write private page i into its block, and set the block all-visible and all-frozen if the rows are
 * frozen.
 */
static void
write_page(GpuSortAppend *append, int i, bool decode_end)
{
	GpuSortAppendTarget *target = append->target;
	Buffer		buffer;

	if (i == 0 && append->continues)
	{
		append->continues = false;
		if (write_rest_of_page(append, decode_end))
			return;
		give_next_blocks(append, 0);
	}
	pin_map(append, append->blocks[i]);
	buffer = lock_block(append, i);
	/* lock_block() may have chosen another block */
	pin_map(append, append->blocks[i]);
	gpusort_table_page_set_ctids(append->pages[i], append->blocks[i]);
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

/* Make the page that is being filled the first and only one. */
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

/* Tell the free space map of the last page, if it has much free space. */
static void
tell_free_space(GpuSortAppend *append)
{
	int			last = append->used - 1;
	Size		space = PageGetHeapFreeSpace((Page) append->pages[last]);

	if (space > SPACE_TOLD)
		RecordPageWithFreeSpace(append->heap, append->blocks[last], space);
}

void
gpusort_table_append_write(GpuSortAppend *append, bool keep_last, bool decode_end)
{
	int			count = append->used;
	bool		goes_on = count == 1 && append->continues;

	if (count == 0)
		return;
	if (keep_last)
		count--;
	else
		gpusort_table_page_seal(&append->page);
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
		if (!goes_on)
			tell_free_space(append);
		RelationSetTargetBlock(append->heap, append->blocks[append->used - 1]);
		gpusort_table_append_forget(append);
	}
}

void
gpusort_table_append_end(GpuSortAppend *append)
{
	if (BufferIsValid(append->target->map))
		ReleaseBuffer(append->target->map);
	FreeAccessStrategy(append->target->strategy);
}
