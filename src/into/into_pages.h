/*
 * into_pages.h
 *		Rows of one slice into pages of a new table, as the server would fill them.
 *
 * Which blocks the pages become is told when they are full.
 */
#ifndef GPUSORT_INTO_PAGES_H
#define GPUSORT_INTO_PAGES_H

#include "access/htup_details.h"
#include "executor/tuptable.h"

#include "btree/btree_storage.h"
#include "heap/heap_page.h"

/* What all rows' headers say.  Plain memory, so that it can be passed to other processes. */
typedef struct GpuSortIntoHeader
{
	TransactionId xmin;
	CommandId	cmin;
	bool		frozen;			/* visible to all who see the table */
} GpuSortIntoHeader;

typedef struct GpuSortIntoPages
{
	Relation	table;
	GpuSortStorage *storage;
	GpuSortIntoHeader header;
	Size		save_bytes;		/* of each page, for the fillfactor */
	MemoryContext row_context;	/* what is made for one row */

	/* the slice's: all but the last one are full */
	GpuSortHeapPage *pages;
	int			count;
	int			allocated;
} GpuSortIntoPages;

/* In the current context. */
extern void gpusort_into_begin_pages(GpuSortIntoPages *pages, Relation table,
									 GpuSortStorage *storage, const GpuSortIntoHeader *header);

/*
 * Append a row that is stored as the table's rows are; false if that takes the toaster, which
 * workers do not have.
 */
extern bool gpusort_into_put_tuple(GpuSortIntoPages *pages, MinimalTuple tuple);

/* The same, through the toaster. */
extern void gpusort_into_put_toasted(GpuSortIntoPages *pages, MinimalTuple tuple);

/* Forget the pages. */
extern void gpusort_into_drop_pages(GpuSortIntoPages *pages);

/* The pages are the blocks from this one on: have them written. */
extern void gpusort_into_write_pages(GpuSortIntoPages *pages, BlockNumber first);

#endif							/* GPUSORT_INTO_PAGES_H */
