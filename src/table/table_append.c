/*
 * table_append.c
 *		The sink of a table in use: appends rows to its end, by whole pages; see table.h.
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
#include "table/table_sink_private.h"

typedef struct TableInUse
{
	GpuSortTablePages pages;	/* must be first field */
	Relation	heap;
	/* the rows of the first private page go to a block that has other rows */
	bool		continues;
	GpuSortTableRing ring;
	GpuSortTableLog log;
	/* the visibility map's page for the last block written, if rows are frozen; else invalid */
	Buffer		map;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} TableInUse;

/* ---------- private pages ---------- */

/* Makes memory for further private pages.  It is used again when these have been written. */
static void
make_pages(GpuSortTablePages *pages)
{
	char	   *memory = MemoryContextAlloc(pages->sink.context, GPUSORT_TABLE_PAGES_MADE * BLCKSZ);

	gpusort_table_pages_make(pages);
	for (int i = 1; i <= GPUSORT_TABLE_PAGES_MADE; i++)
		pages->pages[pages->made - i] = memory + (GPUSORT_TABLE_PAGES_MADE - i) * BLCKSZ;
}

static void
begin_page(TableInUse *table)
{
	GpuSortTablePages *pages = &table->pages;

	if (pages->used == pages->made)
		make_pages(pages);
	gpusort_table_pages_next(pages, pages->pages[pages->used]);
}

static HeapTupleHeader
more_room(GpuSortTableTail *tail, uint32 length)
{
	begin_page((TableInUse *) tail->sink);
	return (HeapTupleHeader) gpusort_table_page_append(&tail->page, length);
}

static void
forget_pages(GpuSortTableSink *sink)
{
	gpusort_table_pages_forget((GpuSortTablePages *) sink);
	((TableInUse *) sink)->continues = false;
}

/* ---------- a block that has rows ---------- */

/*
 * Returns whether rows may be added to a page without a change of the visibility map.  If the rows
 * are frozen, the page's bits in the map stay as they are; PostgreSQL sets them when the page's
 * first rows are frozen.
 */
static bool
may_continue(const TableInUse *table, Page page)
{
	return !PageIsNew(page) && PageGetMaxOffsetNumber(page) > 0 &&
		(table->log.frozen || !PageIsAllVisible(page));
}

/*
 * Begin a private page for rows that go to a block with other rows.  It is given just as much room,
 * and as many line pointers, as that block has left.
 */
static void
begin_rest_of_page(TableInUse *table, BlockNumber block, Page page)
{
	Size		space = PageGetHeapFreeSpace(page);

	begin_page(table);
	table->pages.tail.save_bytes += gpusort_table_page_space(&table->pages.tail.page) - space;
	table->pages.tail.page.nitems = PageGetMaxOffsetNumber(page);
	table->pages.blocks[0] = block;
	table->pages.claimed = 1;
	table->continues = true;
}

static void
go_on(GpuSortTableSink *sink)
{
	TableInUse *table = (TableInUse *) sink;
	BlockNumber blocks = RelationGetNumberOfBlocks(table->heap);
	BlockNumber block = RelationGetTargetBlock(table->heap);
	Buffer		buffer;

	Assert(table->pages.used == 0);
	if (blocks == 0)
		return;
	if (block >= blocks)
		block = blocks - 1;
	buffer = ReadBufferExtended(table->heap, MAIN_FORKNUM, block, RBM_NORMAL,
								gpusort_table_strategy(&table->ring));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (may_continue(table, BufferGetPage(buffer)))
		begin_rest_of_page(table, block, BufferGetPage(buffer));
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
add_rows(TableInUse *table, Buffer buffer, Page rows, bool decode_end)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber count = PageGetMaxOffsetNumber(rows);
	bool		frozen = table->log.frozen;

	/* the page has other rows, so it does not become all-frozen by these */
	table->log.frozen = false;
	table->log.map = InvalidBuffer;
	START_CRIT_SECTION();
	for (OffsetNumber i = FirstOffsetNumber; i <= count; i++)
	{
		ItemId		item = PageGetItemId(rows, i);

		table->offsets[i - FirstOffsetNumber] =
			gpusort_table_put_row(page, table->pages.blocks[0],
								  (HeapTupleHeader) PageGetItem(rows, item), ItemIdGetLength(item));
	}
	MarkBufferDirty(buffer);
	if (table->log.use_wal)
		gpusort_table_log_rows(&table->log, buffer, table->offsets, count, decode_end);
	END_CRIT_SECTION();
	table->log.frozen = frozen;
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
write_rest_of_page(TableInUse *table, bool decode_end)
{
	Page		rows = (Page) table->pages.pages[0];
	Buffer		buffer;
	Size		before;
	Size		space;
	bool		fits;

	if (PageGetMaxOffsetNumber(rows) == 0)
		return true;
	buffer = ReadBufferExtended(table->heap, MAIN_FORKNUM, table->pages.blocks[0], RBM_NORMAL,
								gpusort_table_strategy(&table->ring));
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	before = PageGetHeapFreeSpace(BufferGetPage(buffer));
	fits = may_continue(table, BufferGetPage(buffer)) && rows_fit(BufferGetPage(buffer), rows);
	if (fits)
		add_rows(table, buffer, rows, decode_end);
	space = PageGetHeapFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	/* the free space map may have a larger number for this page */
	if (fits && before > SPACE_TOLD)
		RecordPageWithFreeSpace(table->heap, table->pages.blocks[0], space);
	return fits;
}

/* ---------- blocks ---------- */

/*
 * If writing is put off, other processes wait for their turns until blocks are claimed.  So then
 * the file alone is extended.  To find a buffer for each block takes several times as long, as what
 * is in the buffer has to be written out first; that is done when the pages are written.
 */
static void
claim_blocks(GpuSortTableSink *sink, bool put_off, bool decode_end)
{
	TableInUse *table = (TableInUse *) sink;
	GpuSortTablePages *pages = &table->pages;
	BlockNumber *blocks = pages->blocks + pages->claimed;
	int			count = pages->used - pages->claimed;

	if (count > 0 && put_off)
		gpusort_extend_file(table->heap, blocks, count);
	else if (count > 0)
		gpusort_extend_relation(table->heap, gpusort_table_strategy(&table->ring), blocks, count);
	pages->claimed = pages->used;
}

/* ---------- writing ---------- */

/* Pin the visibility map's page for a block, if rows are frozen. */
static void
pin_map(TableInUse *table, BlockNumber block)
{
	if (table->log.frozen)
		visibilitymap_pin(table->heap, block, &table->map);
}

/* Copy a private page into its buffer, which is locked, and log it. */
static void
fill_page(TableInUse *table, int i, Buffer buffer, bool decode_end)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	memcpy(page, table->pages.pages[i], BLCKSZ);
	MarkBufferDirty(buffer);
	if (BufferIsValid(table->log.map))
		gpusort_map_set_frozen(table->heap, table->pages.blocks[i], buffer, table->map);
	if (table->log.use_wal)
		gpusort_table_log_rows(&table->log, buffer, NULL, PageGetMaxOffsetNumber(page), decode_end);
	END_CRIT_SECTION();
}

/*
 * Another process has taken the block of a private page.  The blocks claimed for the pages behind
 * it move up by one page, so that the blocks' order stays that of the rows, and the last page gets
 * a new block.
 */
static void
give_next_blocks(TableInUse *table, int i)
{
	int			last = table->pages.claimed - 1;

	memmove(table->pages.blocks + i, table->pages.blocks + i + 1, (last - i) * sizeof(BlockNumber));
	gpusort_extend_relation(table->heap, gpusort_table_strategy(&table->ring),
							&table->pages.blocks[last], 1);
}

/*
 * Returns the locked buffer of a private page's block, after another block was chosen if need be.
 */
static Buffer
lock_block(TableInUse *table, int i)
{
	Buffer		buffer;

	while (!gpusort_table_lock_if_empty(table->heap, &table->ring, table->pages.blocks[i],
										&buffer))
		give_next_blocks(table, i);
	return buffer;
}

/*
 * Write private page i into its block, and set the block all-visible and all-frozen if the rows are
 * frozen.
 */
static void
write_page(TableInUse *table, int i, bool decode_end)
{
	Buffer		buffer;

	if (i == 0 && table->continues)
	{
		table->continues = false;
		if (write_rest_of_page(table, decode_end))
			return;
		give_next_blocks(table, 0);
	}
	pin_map(table, table->pages.blocks[i]);
	buffer = lock_block(table, i);
	/* lock_block() may have chosen another block */
	pin_map(table, table->pages.blocks[i]);
	gpusort_table_page_set_ctids(table->pages.pages[i], table->pages.blocks[i]);
	if (table->log.frozen)
		PageSetAllVisible((Page) table->pages.pages[i]);
	if (table->log.frozen && GPUSORT_MAP_IS_IN_RECORD)
	{
		table->log.map = table->map;
		LockBuffer(table->map, BUFFER_LOCK_EXCLUSIVE);
	}
	fill_page(table, i, buffer, decode_end);
	if (BufferIsValid(table->log.map))
		LockBuffer(table->map, BUFFER_LOCK_UNLOCK);
	else if (table->log.frozen)
		gpusort_map_set_frozen(table->heap, table->pages.blocks[i], buffer, table->map);
	UnlockReleaseBuffer(buffer);
}

/* Tell the free space map of the last page, if it has much free space. */
static void
tell_free_space(TableInUse *table)
{
	int			last = table->pages.used - 1;
	Size		space = PageGetHeapFreeSpace((Page) table->pages.pages[last]);

	if (space > SPACE_TOLD)
		RecordPageWithFreeSpace(table->heap, table->pages.blocks[last], space);
}

static void
write_pages(GpuSortTableSink *sink, bool keep_last, bool decode_end)
{
	TableInUse *table = (TableInUse *) sink;
	int			count = table->pages.used;
	bool		goes_on = count == 1 && table->continues;

	if (count == 0)
		return;
	if (keep_last)
		count--;
	else
		gpusort_table_page_seal(&table->pages.tail.page);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_page(table, i, decode_end && i == count - 1);
	}
	if (table->log.use_wal && count > 0)
		XLogSetAsyncXactLSN(GetXLogInsertRecPtr());
	if (keep_last)
		gpusort_table_pages_keep_last(&table->pages);
	else
	{
		if (!goes_on)
			tell_free_space(table);
		RelationSetTargetBlock(table->heap, table->pages.blocks[table->pages.used - 1]);
		forget_pages(sink);
	}
}

static void
end_table(GpuSortTableSink *sink)
{
	TableInUse *table = (TableInUse *) sink;

	if (BufferIsValid(table->map))
		ReleaseBuffer(table->map);
	FreeAccessStrategy(table->ring.strategy);
}

static const GpuSortTableSinkMethods table_in_use_methods = {
	.more_room = more_room,
	.go_on = go_on,
	.place = claim_blocks,
	.write = write_pages,
	.forget = forget_pages,
	.end = end_table
};

GpuSortTableSink *
gpusort_table_sink_append(Relation heap, const GpuSortTableOwner *owner,
						  const GpuSortTableBuffers *buffers, int toast_options)
{
	TableInUse *table = palloc0(sizeof(TableInUse));

	gpusort_table_pages_begin(&table->pages, &table_in_use_methods, heap, owner, toast_options);
	table->heap = heap;
	gpusort_table_log_begin(&table->log, heap);
	table->log.frozen = owner->frozen;
	table->map = InvalidBuffer;
	gpusort_table_ring_begin(&table->ring, buffers);
	return &table->pages.sink;
}
