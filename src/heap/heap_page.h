/*
 * heap_page.h
 *		Fills one heap page from front to back.
 *
 * Line pointers grow up and tuples grow down, as PageAddItem() places them on a page that nothing
 * was removed from. pd_lower and pd_upper are set when the page is sealed.
 */
#ifndef GPUSORT_HEAP_PAGE_H
#define GPUSORT_HEAP_PAGE_H

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "pg_compat/tables.h"

typedef struct GpuSortHeapPage
{
	char	   *data;			/* NULL if there is no page */
	uint32		lower;			/* end of the line pointers */
	uint32		upper;			/* start of the tuples */
	uint32		nitems;
} GpuSortHeapPage;

/*
 * Begin an empty page in `data`.  `inserter` is the transaction that inserts the page's rows, which
 * the page's header records where the server's inserts do so, too (gpusort_page_set_inserted()).
 * It is invalid if the rows are frozen or are not new.
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

/* Returns how many bytes a further tuple can have, as PageGetHeapFreeSpace() does. */
static inline Size
gpusort_heap_page_space(const GpuSortHeapPage *page)
{
	Size		space = page->upper - page->lower;

	if (space < sizeof(ItemIdData) || page->nitems >= MaxHeapTuplesPerPage)
		return 0;
	return space - sizeof(ItemIdData);
}

/* Returns room for a tuple of `length` bytes; the page must have that much space. */
static inline char *
gpusort_heap_page_append(GpuSortHeapPage *page, uint32 length)
{
	page->upper -= MAXALIGN(length);
	ItemIdSetNormal((ItemId) (page->data + page->lower), page->upper, length);
	page->lower += sizeof(ItemIdData);
	page->nitems++;
	return page->data + page->upper;
}

/* Write the page's bounds into its header, when no more tuples are added. */
static inline void
gpusort_heap_page_seal(GpuSortHeapPage *page)
{
	((PageHeader) page->data)->pd_lower = page->lower;
	((PageHeader) page->data)->pd_upper = page->upper;
}

/*
 * Make t_ctid of each tuple lead to the tuple itself, once it is known which block a sealed page
 * is.
 */
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
