/*
 * into_pages.h
 *		Rows of one slice into pages of a table, as the server would fill them.
 *
 * Which blocks the pages become is told when they are full.
 */
#ifndef GPUSORT_INTO_PAGES_H
#define GPUSORT_INTO_PAGES_H

#include "access/htup_details.h"
#include "executor/tuptable.h"

#include "heap/heap_append.h"
#include "heap/heap_new_pages.h"
#include "into/into_target.h"

typedef struct GpuSortIntoPages
{
	Relation	table;
	GpuSortIntoHeader header;
	MemoryContext row_context;	/* what is made for one row */

	/* of a table in use, which has them in buffers: else NULL */
	GpuSortAppend *append;
	bool		toasted;		/* some row went through the toaster */

	/* of a new one */
	GpuSortNewPages fresh;
} GpuSortIntoPages;

/* In the current context.  A table in use has no storage. */
extern void gpusort_into_begin_pages(GpuSortIntoPages *pages, const GpuSortIntoTarget *target,
									 GpuSortStorage *storage);

/*
 * Append a row that is stored as the table's rows are; false if that takes the toaster, which
 * workers do not have.
 */
extern bool gpusort_into_put_tuple(GpuSortIntoPages *pages, MinimalTuple tuple);

/* The same, through the toaster. */
extern void gpusort_into_put_toasted(GpuSortIntoPages *pages, MinimalTuple tuple);

/* Forget the pages. */
extern void gpusort_into_drop_pages(GpuSortIntoPages *pages);

/* The pages are the next blocks of the table. */
extern void gpusort_into_claim_pages(GpuSortIntoPages *pages);

/* Have them written. */
extern void gpusort_into_write_pages(GpuSortIntoPages *pages);

extern void gpusort_into_end_pages(GpuSortIntoPages *pages);

#endif							/* GPUSORT_INTO_PAGES_H */
