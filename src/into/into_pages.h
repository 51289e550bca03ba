/*
 * into_pages.h
 *		Putting the rows of a slice into pages of a table, as the server would fill them.
 *
 * A *slice* is a stretch of the sorted result.  Which blocks of the table its pages become is
 * decided when the pages are full (into_slices.h).
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
	MemoryContext row_context;	/* what is allocated for one row */

	/* used if the table is in use: its pages go through shared buffers; else NULL */
	GpuSortAppend *append;
	bool		toasted;		/* some row went through the toaster */

	/* used if the table is new */
	GpuSortNewPages fresh;
} GpuSortIntoPages;

/*
 * Begins pages, allocated in the current context.  "storage" is that of a new table, and NULL for a
 * table in use.
 */
extern void gpusort_into_begin_pages(GpuSortIntoPages *pages, const GpuSortIntoTarget *target,
									 GpuSortStorage *storage);

/*
 * Appends a row, whose tuple has the columns of the table.  Returns false if the row needs the
 * toaster, which workers do not have.
 */
extern bool gpusort_into_put_tuple(GpuSortIntoPages *pages, MinimalTuple tuple);

/* Appends a row by way of the toaster. */
extern void gpusort_into_put_toasted(GpuSortIntoPages *pages, MinimalTuple tuple);

/* Forgets the pages. */
extern void gpusort_into_drop_pages(GpuSortIntoPages *pages);

/* Makes the pages the next blocks of the table. */
extern void gpusort_into_claim_pages(GpuSortIntoPages *pages);

/* Has the pages written, which have got their blocks. */
extern void gpusort_into_write_pages(GpuSortIntoPages *pages);

extern void gpusort_into_end_pages(GpuSortIntoPages *pages);

#endif							/* GPUSORT_INTO_PAGES_H */
