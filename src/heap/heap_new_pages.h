/*
 * heap_new_pages.h
 *		Holds pages of a new table that are being filled and have no blocks yet.
 *
 * No other session can see the table, so the pages bypass shared buffers (btree_storage.h).
 */
#ifndef GPUSORT_HEAP_NEW_PAGES_H
#define GPUSORT_HEAP_NEW_PAGES_H

#include "access/htup_details.h"
#include "utils/rel.h"

#include "btree/btree_storage.h"
#include "heap/heap_page.h"

typedef struct GpuSortNewPages
{
	GpuSortStorage *storage;
	/* transaction that inserts the rows; see gpusort_heap_page_begin() */
	TransactionId inserter;
	Size		save_bytes;		/* bytes left free on each page, for the fillfactor */
	GpuSortHeapPage *pages;		/* all but the last one are full */
	int			count;
	int			allocated;
	BlockNumber first;			/* block of the first page, once blocks are claimed */
} GpuSortNewPages;

/* Prepare to fill pages of the table, with memory of the current context. */
extern void gpusort_new_pages_begin(GpuSortNewPages *pages, Relation table, GpuSortStorage *storage,
									TransactionId inserter);

/* Begin another page; for gpusort_new_pages_append(). */
extern GpuSortHeapPage *gpusort_new_page(GpuSortNewPages *pages);

/*
 * Returns room for a tuple of `length` bytes, on the last page or a new one, by the server's rules.
 */
static inline HeapTupleHeader
gpusort_new_pages_append(GpuSortNewPages *pages, uint32 length)
{
	GpuSortHeapPage *page = &pages->pages[pages->count - 1];

	if (pages->count == 0 ||
		MAXALIGN(length) + pages->save_bytes > gpusort_heap_page_space(page))
		page = gpusort_new_page(pages);
	return (HeapTupleHeader) gpusort_heap_page_append(page, length);
}

/* Forget the pages. */
extern void gpusort_new_pages_drop(GpuSortNewPages *pages);

/* Make the pages the next blocks of the table. */
extern void gpusort_new_pages_claim(GpuSortNewPages *pages);

/* Write the pages into the blocks that were claimed, and forget them. */
extern void gpusort_new_pages_write(GpuSortNewPages *pages);

/*
 * Make the full pages, which are all but the last, the next blocks of the table, and write them.
 * The last page stays and can be filled further.
 */
extern void gpusort_new_pages_write_full(GpuSortNewPages *pages);

#endif							/* GPUSORT_HEAP_NEW_PAGES_H */
