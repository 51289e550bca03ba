/*
 * table_buckets.c
 *		The sink of several tables in use: appends rows to their ends; see table.h.
 *
 * A table's last page is used if it has room, unless it is all-visible, since the visibility map's
 * bit would have to be cleared first.  No free space is looked for in other pages.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "pg_compat/tables.h"
#include "table/table_sink_private.h"

/* Memory for rows is allocated in blocks of so many bytes. */
#define BLOCK_BYTES		((Size) 256 * 1024)

/* A row of a bucket, which has the rows of one table.  Its tuple follows. */
typedef struct BucketRow
{
	struct BucketRow *next;		/* next row of the same bucket */
	uint32		length;
} BucketRow;

#define ROW_BYTES			MAXALIGN(sizeof(BucketRow))
#define ROW_TUPLE(row)		((HeapTupleHeader) ((char *) (row) + ROW_BYTES))

typedef struct Bucket
{
	GpuSortTableTail tail;		/* must be first field */
	bool		use_wal;
	bool		decoded;
	GpuSortTableEnd *end;

	struct Bucket *next;		/* next bucket that has rows */
	BucketRow  *first;			/* first row that has no place yet */
	BucketRow  *last;
	uint64		nrows;
} Bucket;

/* A page that is going to be written, with rows from `row` on, as many as it has room for. */
typedef struct BucketPage
{
	Bucket	   *bucket;
	BucketRow  *row;
	BlockNumber block;
} BucketPage;

typedef struct Buckets
{
	GpuSortTableSink sink;		/* must be first field */
	GpuSortTableOwner owner;
	GpuSortTableRing ring;
	Bucket	   *first;			/* first bucket that has rows */
	Bucket	   *last;

	char	  **blocks;			/* memory blocks for rows */
	int			used;
	int			made;
	Size		left;			/* free bytes of the memory block that is being filled */

	BucketPage *pages;
	int			npages;			/* number of pages whose writing was put off */
	int			room;			/* allocated length of `pages` and `claimed` */
	BlockNumber *claimed;
	GpuSortTableLog log;
	/* something was logged that the WAL writer should write without waiting for a commit */
	bool		logged;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} Buckets;

/* ---------- rows ---------- */

static void
add_block(Buckets *buckets)
{
	MemoryContext context = buckets->sink.context;

	if (buckets->used == buckets->made)
	{
		Size		bytes = (buckets->made + 1) * sizeof(char *);

		buckets->blocks = buckets->blocks == NULL ? MemoryContextAlloc(context, bytes)
			: repalloc_huge(buckets->blocks, bytes);
		buckets->blocks[buckets->made] = MemoryContextAlloc(context, BLOCK_BYTES);
		buckets->made++;
	}
	buckets->used++;
	buckets->left = BLOCK_BYTES;
}

static void
add_row(Buckets *buckets, Bucket *bucket, BucketRow *row)
{
	if (bucket->first == NULL)
	{
		bucket->first = row;
		bucket->next = NULL;
		if (buckets->first == NULL)
			buckets->first = bucket;
		else
			buckets->last->next = bucket;
		buckets->last = bucket;
	}
	else
		bucket->last->next = row;
	bucket->last = row;
	bucket->nrows++;
}

static HeapTupleHeader
more_room(GpuSortTableTail *tail, uint32 length)
{
	Buckets    *buckets = (Buckets *) tail->sink;
	Bucket	   *bucket = (Bucket *) tail;
	Size		bytes = ROW_BYTES + MAXALIGN(length);
	BucketRow  *row;
	HeapTupleHeader tuple;

	if (buckets->left < bytes)
		add_block(buckets);
	row = (BucketRow *) (buckets->blocks[buckets->used - 1] + (BLOCK_BYTES - buckets->left));
	buckets->left -= bytes;
	row->next = NULL;
	row->length = length;
	add_row(buckets, bucket, row);
	tuple = ROW_TUPLE(row);
	memset(tuple, 0, length);
	return tuple;
}

static void
forget_rows(GpuSortTableSink *sink)
{
	Buckets    *buckets = (Buckets *) sink;

	for (Bucket *bucket = buckets->first; bucket != NULL; bucket = bucket->next)
	{
		bucket->first = bucket->last = NULL;
		bucket->nrows = 0;
	}
	buckets->first = buckets->last = NULL;
	buckets->used = buckets->npages = 0;
	buckets->left = 0;
}

/* ---------- into a block ---------- */

static void
log_rows(Buckets *buckets, const Bucket *bucket, Buffer buffer, int count, bool was_empty,
		 bool decode_end)
{
	if (!bucket->use_wal)
		return;
	buckets->log.decoded = bucket->decoded;
	gpusort_table_log_rows(&buckets->log, buffer, was_empty ? NULL : buckets->offsets, count,
						   decode_end);
	buckets->logged = true;
}

/*
 * Put rows into a locked block, which has room for the first one, and log them.  Returns the first
 * of the rows that remain, or NULL.
 */
static BucketRow *
put_rows(Buckets *buckets, const Bucket *bucket, Buffer buffer, BucketRow *row, bool decode_end)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	bool		was_empty = PageIsNew(page) || PageGetMaxOffsetNumber(page) == 0;
	int			count = 0;

	START_CRIT_SECTION();
	if (PageIsNew(page))
		PageInit(page, BLCKSZ, 0);
	do
	{
		buckets->offsets[count++] = gpusort_table_put_row(page, block, ROW_TUPLE(row), row->length);
		row = row->next;
	} while (row != NULL &&
			 PageGetHeapFreeSpace(page) >= MAXALIGN(row->length) + bucket->tail.save_bytes);
	MarkBufferDirty(buffer);
	log_rows(buckets, bucket, buffer, count, was_empty, decode_end && row == NULL);
	END_CRIT_SECTION();
	return row;
}

/* Returns whether rows can be added to this page: it has room, and is not all-visible. */
static bool
has_room(const Bucket *bucket, Page page)
{
	return !PageIsNew(page) && !PageIsAllVisible(page) &&
		PageGetHeapFreeSpace(page) >= MAXALIGN(bucket->first->length) + bucket->tail.save_bytes;
}

/* Put rows into the table's last page, as far as it has room. */
static void
fill_tail(Buckets *buckets, Bucket *bucket, bool decode_end)
{
	GpuSortTableEnd *end = bucket->end;
	Buffer		buffer;

	if (end->block == InvalidBlockNumber)
	{
		BlockNumber blocks = RelationGetNumberOfBlocks(bucket->tail.heap);

		end->first_block = blocks > 0 ? blocks - 1 : 0;
		if (blocks == 0)
			return;
		end->block = blocks - 1;
	}
	buffer = ReadBuffer(bucket->tail.heap, end->block);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (has_room(bucket, BufferGetPage(buffer)))
		bucket->first = put_rows(buckets, bucket, buffer, bucket->first, decode_end);
	UnlockReleaseBuffer(buffer);
}

/* ---------- new pages ---------- */

static BucketPage *
add_page(Buckets *buckets)
{
	if (buckets->npages == buckets->room)
	{
		MemoryContext context = buckets->sink.context;

		buckets->room = Max(64, 2 * buckets->room);
		if (buckets->pages == NULL)
		{
			buckets->pages = MemoryContextAlloc(context, buckets->room * sizeof(BucketPage));
			buckets->claimed = MemoryContextAlloc(context, buckets->room * sizeof(BlockNumber));
		}
		else
		{
			buckets->pages = repalloc_huge(buckets->pages, buckets->room * sizeof(BucketPage));
			buckets->claimed = repalloc_huge(buckets->claimed, buckets->room * sizeof(BlockNumber));
		}
	}
	return &buckets->pages[buckets->npages++];
}

/*
 * Find the rows of a new page, by the arithmetic of put_rows().  Returns the first of the rows that
 * remain, or NULL.
 */
static BucketRow *
cut_page(const Bucket *bucket, BucketRow *row)
{
	GpuSortTablePage page = {.lower = SizeOfPageHeaderData,.upper = BLCKSZ};

	do
	{
		page.upper -= MAXALIGN(row->length);
		page.lower += sizeof(ItemIdData);
		page.nitems++;
		row = row->next;
	} while (row != NULL &&
			 gpusort_table_page_space(&page) >= MAXALIGN(row->length) + bucket->tail.save_bytes);
	return row;
}

static void
write_page(Buckets *buckets, BucketPage *page, bool decode_end)
{
	Bucket	   *bucket = page->bucket;
	Buffer		buffer =
		gpusort_table_lock_empty(bucket->tail.heap, &buckets->ring, &page->block);

	put_rows(buckets, bucket, buffer, page->row, decode_end);
	UnlockReleaseBuffer(buffer);
}

/*
 * Put the rows that remain into new pages.  The last page is written now; so are the others, unless
 * they are put off.
 */
static void
add_pages(Buckets *buckets, Bucket *bucket, bool put_off, bool decode_end)
{
	int			begin = buckets->npages;
	int			count;

	while (bucket->first != NULL)
	{
		BucketPage *page = add_page(buckets);

		page->bucket = bucket;
		page->row = bucket->first;
		bucket->first = cut_page(bucket, page->row);
	}
	count = buckets->npages - begin;
	/* the last page is written at once; if it is the only one, let it have its buffer */
	if (put_off && count > 1)
		gpusort_extend_file(bucket->tail.heap, buckets->claimed, count);
	else
		gpusort_extend_relation(bucket->tail.heap, gpusort_table_strategy(&buckets->ring),
								buckets->claimed, count);
	for (int i = 0; i < count; i++)
	{
		BucketPage *page = &buckets->pages[begin + i];

		page->block = buckets->claimed[i];
		if (put_off && i < count - 1)
			continue;
		write_page(buckets, page, decode_end);
		bucket->end->block = page->block;
	}
	buckets->npages = put_off ? buckets->npages - 1 : begin;
}

/* ---------- all of them ---------- */

/* Have the WAL writer write what was logged, without waiting for a commit. */
static void
tell_wal_writer(Buckets *buckets)
{
	if (buckets->logged)
		XLogSetAsyncXactLSN(GetXLogInsertRecPtr());
	buckets->logged = false;
}

/* Count rows as inserted.  A worker counts them in the end, for its leader to report. */
static void
count_rows(Bucket *bucket)
{
	if (IsParallelWorker())
		bucket->end->rows += bucket->nrows;
	else
		pgstat_count_heap_insert(bucket->tail.heap, bucket->nrows);
}

static void
place_rows(GpuSortTableSink *sink, bool put_off, bool decode_end)
{
	Buckets    *buckets = (Buckets *) sink;

	Assert(!put_off || !decode_end);
	for (Bucket *bucket = buckets->first; bucket != NULL; bucket = bucket->next)
	{
		bool		end = decode_end && bucket->next == NULL;

		CHECK_FOR_INTERRUPTS();
		CheckForSerializableConflictIn(bucket->tail.heap, NULL, InvalidBlockNumber);
		fill_tail(buckets, bucket, end);
		if (bucket->first != NULL)
			add_pages(buckets, bucket, put_off, end);
		count_rows(bucket);
	}
	tell_wal_writer(buckets);
}

static void
write_pages(GpuSortTableSink *sink, bool keep_last, bool decode_end)
{
	Buckets    *buckets = (Buckets *) sink;

	for (int i = 0; i < buckets->npages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_page(buckets, &buckets->pages[i], false);
	}
	tell_wal_writer(buckets);
	forget_rows(sink);
}

static void
end_buckets(GpuSortTableSink *sink)
{
	FreeAccessStrategy(((Buckets *) sink)->ring.strategy);
}

static const GpuSortTableSinkMethods buckets_methods = {
	.more_room = more_room,
	.place = place_rows,
	.write = write_pages,
	.forget = forget_rows,
	.end = end_buckets
};

GpuSortTableSink *
gpusort_table_sink_several(const GpuSortTableOwner *owner, const GpuSortTableBuffers *buffers)
{
	Buckets    *buckets = palloc0(sizeof(Buckets));

	gpusort_table_begin_sink(&buckets->sink, &buckets_methods);
	buckets->owner = *owner;
	gpusort_table_ring_begin(&buckets->ring, buffers);
	return &buckets->sink;
}

GpuSortTableTail *
gpusort_table_sink_add(GpuSortTableSink *sink, Relation heap, GpuSortTableEnd *end,
					   int toast_options)
{
	Buckets    *buckets = (Buckets *) sink;
	Bucket	   *bucket = palloc0(sizeof(Bucket));

	gpusort_table_begin_tail(&bucket->tail, sink, heap, &buckets->owner, toast_options);
	bucket->end = end;
	gpusort_table_log_begin(&buckets->log, heap);
	bucket->use_wal = buckets->log.use_wal;
	bucket->decoded = buckets->log.decoded;
	return &bucket->tail;
}
