/*
 * heap_page.h
 *		Filling one heap page from front to back.
 *
 * Line pointers grow up, tuples grow down, as PageAddItem() has them on a page that nothing
 * was removed from.  The header is written when the page is sealed.
 */
#ifndef GPUSORT_HEAP_PAGE_H
#define GPUSORT_HEAP_PAGE_H

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "pg_compat/tables.h"

typedef struct GpuSortHeapPage
{
	char	   *data;			/* NULL: there is no page */
	uint32		lower;			/* end of the line pointers */
	uint32		upper;			/* start of the tuples */
	uint32		nitems;
} GpuSortHeapPage;

/*
 * "inserter" is the transaction that inserts the page's rows, or invalid where they are frozen or not new, and the
 * server would not have the page pruned after it.
 */
static inline void
gpusort_heap_page_begin(GpuSortHeapPage *page, char *data, TransactionId inserter)
{
	PageInit((Page) data, BLCKSZ, 0);
	if (TransactionIdIsValid(inserter))
		gpusort_page_set_inserted((Page) data, inserter);
	page->data = data;
	page->lower = SizeOfPageHeaderData;
	page->upper = BLCKSZ;
	page->nitems = 0;
}

/* Bytes that a further tuple can have: PageGetHeapFreeSpace(). */
static inline Size
gpusort_heap_page_space(const GpuSortHeapPage *page)
{
	Size		space = page->upper - page->lower;

	if (space < sizeof(ItemIdData) || page->nitems >= MaxHeapTuplesPerPage)
		return 0;
	return space - sizeof(ItemIdData);
}

/* Room for a tuple of so many bytes, which must be there. */
static inline char *
gpusort_heap_page_append(GpuSortHeapPage *page, uint32 length)
{
	page->upper -= MAXALIGN(length);
	ItemIdSetNormal((ItemId) (page->data + page->lower), page->upper, length);
	page->lower += sizeof(ItemIdData);
	page->nitems++;
	return page->data + page->upper;
}

static inline void
gpusort_heap_page_seal(GpuSortHeapPage *page)
{
	((PageHeader) page->data)->pd_lower = page->lower;
	((PageHeader) page->data)->pd_upper = page->upper;
}

/* Once it is known which block a sealed page is, each tuple is to lead to itself. */
static inline void
gpusort_heap_page_set_ctids(char *data, BlockNumber block)
{
	Page		page = (Page) data;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, PageGetItemId(page, offset));

		ItemPointerSet(&tuple->t_ctid, block, offset);
	}
}

#endif							/* GPUSORT_HEAP_PAGE_H */
