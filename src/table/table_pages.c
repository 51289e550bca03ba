/*
 * table_pages.c
 *		Sinks of whole pages, and that of a new table; see table_sink_private.h.
 *
 * Tuples are copied straight into their pages, by the rules of heap_insert() and of the server's
 * rewrite_heap_tuple(): a page ends before the first tuple that would leave less of it free than
 * the fillfactor wants.  Pages of a new table are logged many in one record (storage.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "table/storage.h"
#include "table/table_sink_private.h"

/* ---------- whole pages ---------- */

/*
 * Returns the transaction that gpusort_table_page_begin() wants to know, for a page that has only
 * rows of this owner.
 */
static TransactionId
get_inserter(const GpuSortTableOwner *owner)
{
	return owner == NULL || owner->frozen ? InvalidTransactionId : owner->xid;
}

void
gpusort_table_pages_begin(GpuSortTablePages *pages, const GpuSortTableSinkMethods *methods,
						  Relation heap, const GpuSortTableOwner *owner, int toast_options)
{
	gpusort_table_begin_sink(&pages->sink, methods);
	gpusort_table_begin_tail(&pages->tail, &pages->sink, heap, owner, toast_options);
	pages->inserter = get_inserter(owner);
	pages->save_bytes = pages->tail.save_bytes;
	pages->used = pages->made = pages->claimed = 0;
}

void
gpusort_table_pages_make(GpuSortTablePages *pages)
{
	MemoryContext context = pages->sink.context;
	int			made = pages->made + GPUSORT_TABLE_PAGES_MADE;

	if (pages->made == 0)
	{
		pages->pages = MemoryContextAlloc(context, made * sizeof(char *));
		pages->blocks = MemoryContextAlloc(context, made * sizeof(BlockNumber));
	}
	else
	{
		pages->pages = repalloc_huge(pages->pages, made * sizeof(char *));
		pages->blocks = repalloc_huge(pages->blocks, made * sizeof(BlockNumber));
	}
	pages->made = made;
}

void
gpusort_table_pages_next(GpuSortTablePages *pages, char *data)
{
	GpuSortTableTail *tail = &pages->tail;

	if (tail->page.data != NULL)
		gpusort_table_page_seal(&tail->page);
	pages->pages[pages->used++] = data;
	gpusort_table_page_begin(&tail->page, data, pages->inserter);
	tail->save_bytes = pages->save_bytes;
}

void
gpusort_table_pages_keep_last(GpuSortTablePages *pages)
{
	int			last = pages->used - 1;
	char	   *page = pages->pages[last];

	pages->pages[last] = pages->pages[0];
	pages->pages[0] = page;
	pages->blocks[0] = pages->blocks[last];
	pages->claimed = Min(1, pages->claimed - last);
	pages->used = 1;
}

void
gpusort_table_pages_forget(GpuSortTablePages *pages)
{
	pages->tail.page.data = NULL;
	pages->used = pages->claimed = 0;
}

GpuSortTableTail *
gpusort_table_sink_tail(GpuSortTableSink *sink)
{
	return &((GpuSortTablePages *) sink)->tail;
}

/* ---------- a new table ---------- */

/* Number of full pages that a process writes at a time, while they are in the CPU's cache. */
#define PAGES_AT_A_TIME		16

typedef struct NewTable
{
	GpuSortTablePages pages;	/* must be first field */
	GpuSortStorage *storage;
} NewTable;

static HeapTupleHeader
begin_page(GpuSortTableTail *tail, uint32 length)
{
	NewTable *table = (NewTable *) tail->sink;
	GpuSortTablePages *pages = &table->pages;

	CHECK_FOR_INTERRUPTS();
	if (pages->used == pages->made)
		gpusort_table_pages_make(pages);
	gpusort_table_pages_next(pages, gpusort_storage_get_page(table->storage));
	return (HeapTupleHeader) gpusort_table_page_append(&tail->page, length);
}

static void
claim_blocks(GpuSortTableSink *sink, bool put_off, bool decode_end)
{
	NewTable *table = (NewTable *) sink;
	GpuSortTablePages *pages = &table->pages;
	int			count = pages->used - pages->claimed;

	if (count > 0)
	{
		BlockNumber block = gpusort_storage_claim(table->storage, count);

		while (pages->claimed < pages->used)
			pages->blocks[pages->claimed++] = block++;
	}
}

static void
write_pages(GpuSortTableSink *sink, bool keep_last, bool decode_end)
{
	NewTable *table = (NewTable *) sink;
	GpuSortTablePages *pages = &table->pages;
	int			count = keep_last ? pages->used - 1 : pages->used;

	if (pages->used == 0)
		return;
	if (!keep_last)
		gpusort_table_page_seal(&pages->tail.page);
	for (int i = 0; i < count; i++)
	{
		gpusort_table_page_set_ctids(pages->pages[i], pages->blocks[i]);
		gpusort_storage_put_page(table->storage, pages->blocks[i], pages->pages[i]);
	}
	if (keep_last)
		gpusort_table_pages_keep_last(pages);
	else
		gpusort_table_pages_forget(pages);
}

static void
drop_pages(GpuSortTableSink *sink)
{
	NewTable *table = (NewTable *) sink;
	GpuSortTablePages *pages = &table->pages;

	while (pages->used > 0)
		gpusort_storage_free_page(table->storage, pages->pages[--pages->used]);
	gpusort_table_pages_forget(pages);
}

void
gpusort_table_sink_advance(GpuSortTableSink *sink)
{
	if (((GpuSortTablePages *) sink)->used <= PAGES_AT_A_TIME)
		return;
	claim_blocks(sink, false, false);
	write_pages(sink, true, false);
}

/* The storage belongs to the caller, who also finishes it. */
static void
end_new_table(GpuSortTableSink *sink)
{
}

static const GpuSortTableSinkMethods new_table_methods = {
	.more_room = begin_page,
	.place = claim_blocks,
	.write = write_pages,
	.forget = drop_pages,
	.end = end_new_table
};

GpuSortTableSink *
gpusort_table_sink_new(Relation heap, GpuSortStorage *storage, const GpuSortTableOwner *owner,
					   int toast_options)
{
	NewTable *table = palloc0(sizeof(NewTable));

	gpusort_table_pages_begin(&table->pages, &new_table_methods, heap, owner, toast_options);
	table->storage = storage;
	return &table->pages.sink;
}
