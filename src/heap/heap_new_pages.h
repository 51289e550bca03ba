/*
 * heap_new_pages.h
 *		Pages of a new table that are being filled, and have no blocks yet.
 *
 * Nobody else can look at the table: pages bypass shared buffers (btree_storage.h).
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
	TransactionId inserter;		/* of the rows; see gpusort_heap_page_begin() */
	Size		save_bytes;		/* of each page, for the fillfactor */
	GpuSortHeapPage *pages;		/* all but the last one are full */
	int			count;
	int			allocated;
	BlockNumber first;			/* block that the pages become, once they are claimed */
} GpuSortNewPages;

/* In the current context. */
extern void gpusort_new_pages_begin(GpuSortNewPages *pages, Relation table, GpuSortStorage *storage,
									TransactionId inserter);

/* For gpusort_new_pages_append(). */
extern GpuSortHeapPage *gpusort_new_page(GpuSortNewPages *pages);

/* Room for a tuple, on the last page or a new one, by the rules of the server. */
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

/* They are the next blocks of the table. */
extern void gpusort_new_pages_claim(GpuSortNewPages *pages);

/* Then: have them written. */
extern void gpusort_new_pages_write(GpuSortNewPages *pages);

/* The full ones are the next blocks: have these written, and go on with the last one. */
extern void gpusort_new_pages_write_full(GpuSortNewPages *pages);

#endif							/* GPUSORT_HEAP_NEW_PAGES_H */
