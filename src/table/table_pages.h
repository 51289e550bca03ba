/*
 * table_pages.h
 *		Heap pages that are filled in private memory, and the order in which they become blocks.
 */
#ifndef GPUSORT_TABLE_PAGES_H
#define GPUSORT_TABLE_PAGES_H

#include "access/htup_details.h"
#include "port/atomics.h"
#include "storage/bufpage.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"
#include "utils/rel.h"

#include "pg_compat/tables.h"
#include "table/storage.h"

/* ---------- page: fills one heap page from front to back ---------- */

/*
 * Line pointers grow up and tuples grow down, as PageAddItem() places them on a page that nothing
 * was removed from. pd_lower and pd_upper are set when the page is sealed.
 */

typedef struct GpuSortTablePage
{
	char	   *data;			/* NULL if there is no page */
	uint32		lower;			/* end of the line pointers */
	uint32		upper;			/* start of the tuples */
	uint32		nitems;
} GpuSortTablePage;

/*
 * Begin an empty page in `data`.  `inserter` is the transaction that inserts the page's rows, which
 * the page's header records where the server's inserts do so, too (gpusort_page_set_inserted()).
 * It is invalid if the rows are frozen or are not new.
 */
static inline void
gpusort_table_page_begin(GpuSortTablePage *page, char *data, TransactionId inserter)
{
	PageInit((Page) data, BLCKSZ, 0);
	if (TransactionIdIsValid(inserter))
		gpusort_page_set_inserted((Page) data, inserter);
	page->data = data;
	page->lower = SizeOfPageHeaderData;
	page->upper = BLCKSZ;
	page->nitems = 0;
}

/* Returns how many bytes a further tuple can have, as PageGetHeapFreeSpace() does. */
static inline Size
gpusort_table_page_space(const GpuSortTablePage *page)
{
	Size		space = page->upper - page->lower;

	if (space < sizeof(ItemIdData) || page->nitems >= MaxHeapTuplesPerPage)
		return 0;
	return space - sizeof(ItemIdData);
}

/* Returns room for a tuple of `length` bytes; the page must have that much space. */
static inline char *
gpusort_table_page_append(GpuSortTablePage *page, uint32 length)
{
	page->upper -= MAXALIGN(length);
	ItemIdSetNormal((ItemId) (page->data + page->lower), page->upper, length);
	page->lower += sizeof(ItemIdData);
	page->nitems++;
	return page->data + page->upper;
}

/* Write the page's bounds into its header, when no more tuples are added. */
static inline void
gpusort_table_page_seal(GpuSortTablePage *page)
{
	((PageHeader) page->data)->pd_lower = page->lower;
	((PageHeader) page->data)->pd_upper = page->upper;
}

/*
 * Make t_ctid of each tuple lead to the tuple itself, once it is known which block a sealed page
 * is.
 */
static inline void
gpusort_table_page_set_ctids(char *data, BlockNumber block)
{
	Page		page = (Page) data;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, offset));

		ItemPointerSet(&tuple->t_ctid, block, offset);
	}
}

/* ---------- new pages: pages of a new table that have no blocks yet ---------- */

/*
 * The pages are being filled.  No other session can see the table, so they bypass shared buffers
 * (storage.h).
 */

typedef struct GpuSortNewPages
{
	GpuSortStorage *storage;
	/* transaction that inserts the rows; see gpusort_table_page_begin() */
	TransactionId inserter;
	Size		save_bytes;		/* bytes left free on each page, for the fillfactor */
	GpuSortTablePage *pages;		/* all but the last one are full */
	int			count;
	int			allocated;
	BlockNumber first;			/* block of the first page, once blocks are claimed */
} GpuSortNewPages;

/* Prepare to fill pages of the table, with memory of the current context. */
extern void gpusort_table_new_pages_begin(GpuSortNewPages *pages, Relation table,
										  GpuSortStorage *storage, TransactionId inserter);

/* Begin another page; for gpusort_table_new_pages_append(). */
extern GpuSortTablePage *gpusort_table_new_page(GpuSortNewPages *pages);

/*
 * Returns room for a tuple of `length` bytes, on the last page or a new one, by the server's rules.
 */
static inline HeapTupleHeader
gpusort_table_new_pages_append(GpuSortNewPages *pages, uint32 length)
{
	GpuSortTablePage *page = &pages->pages[pages->count - 1];

	if (pages->count == 0 || MAXALIGN(length) + pages->save_bytes > gpusort_table_page_space(page))
		page = gpusort_table_new_page(pages);
	return (HeapTupleHeader) gpusort_table_page_append(page, length);
}

/* Forget the pages. */
extern void gpusort_table_new_pages_drop(GpuSortNewPages *pages);

/* Make the pages the next blocks of the table. */
extern void gpusort_table_new_pages_claim(GpuSortNewPages *pages);

/* Write the pages into the blocks that were claimed, and forget them. */
extern void gpusort_table_new_pages_write(GpuSortNewPages *pages);

/*
 * Make the full pages, which are all but the last, the next blocks of the table, and write them.
 * The last page stays and can be filled further.
 */
extern void gpusort_table_new_pages_write_full(GpuSortNewPages *pages);

/* ---------- turns: the order in which pages become blocks of a table ---------- */

/*
 * Slices of rows are dealt out to several processes.  A process that has nothing to do takes the
 * next slice, and fills pages of its own.  When it is the slice's turn, these pages become the
 * next blocks of the table, and the turn passes to the next slice.  Slices are taken in order,
 * so some process has taken the slice whose turn it is.  A worker that can't do its slice leaves
 * it to the leader, at the slice's turn.
 */

/* State of the turns.  In shared memory if there are workers. */
typedef struct GpuSortTurns
{
	pg_atomic_uint64 next;		/* first slice that no process has taken */

	slock_t		mutex;			/* protects `turn` and `left` */
	uint64		turn;			/* slice whose pages become the next blocks */
	bool		left;			/* a worker has left that slice to the leader */
	ConditionVariable turned;
} GpuSortTurns;

/* Begin with the first slice, whose turn it is then. */
extern void gpusort_turns_init(GpuSortTurns *turns);

/*
 * Returns the next slice, for this process to take.  There are no more if it is not below the
 * number of slices.
 */
static inline uint64
gpusort_turns_take(GpuSortTurns *turns)
{
	return pg_atomic_fetch_add_u64(&turns->next, 1);
}

/*
 * Wait until it is this slice's turn, and return true.  In the leader, returns false if there is
 * another slice to do first, *left, which a worker has left: it is that slice's turn, and the
 * leader has to do it and pass the turn on.
 */
extern bool gpusort_turns_await(GpuSortTurns *turns, uint64 slice, uint64 *left);

/* Pass the turn on to the next slice, once the slice's pages have their blocks. */
extern void gpusort_turns_pass(GpuSortTurns *turns, uint64 slice);

/* Leave the slice, whose turn it is, to the leader. */
extern void gpusort_turns_leave(GpuSortTurns *turns, uint64 slice);

#endif							/* GPUSORT_TABLE_PAGES_H */
