/*
 * index_reader.h
 *		A process that reads the table of an index build, or its share of it.
 */
#ifndef GPUSORT_INDEX_READER_H
#define GPUSORT_INDEX_READER_H

#include "access/tableam.h"

#include "btree/btree.h"
#include "index/index_blocks.h"
#include "index/index_exchange.h"
#include "index/index_rows.h"

typedef struct GpuSortIndexReader
{
	GpuSortIndexTarget target;
	bool		by_pages;		/* the table is read page by page, not by the server's scan */
	/* parallel scan to join; NULL if the server's scan is not a parallel one */
	ParallelTableScanDesc scan;
	/* pages to read, if by_pages; blocks.reports is set in the leader only */
	GpuSortIndexBlocks blocks;
	GpuSortIndexRows rows;		/* where the rows go */
	/* exchange of rows with the other processes; NULL if there are none */
	GpuSortRowExchange *exchange;
} GpuSortIndexReader;

/* Send or receive rows, if there are other processes.  To be called after each page or few rows. */
static inline void
gpusort_reader_exchange(GpuSortIndexReader *reader)
{
	if (reader->exchange != NULL)
		gpusort_exchange_rows(reader->exchange, &reader->rows);
}

/* Put a row into the sort; the callback of table_index_build_scan().  `state` is the reader. */
extern void gpusort_reader_put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
								   bool alive, void *state);

#endif							/* GPUSORT_INDEX_READER_H */
