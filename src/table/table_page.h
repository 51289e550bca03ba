/*
 * table_page.h
 *		Fills one page of a table in private memory.
 */
#ifndef GPUSORT_TABLE_PAGE_H
#define GPUSORT_TABLE_PAGE_H

#include "access/htup_details.h"
#include "storage/bufpage.h"

#include "pg_compat/tables.h"

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

#endif							/* GPUSORT_TABLE_PAGE_H */
