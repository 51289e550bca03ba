/*
 * index_reader.h
 *		A process that reads the table of an index build, or its share of it.
 */
#ifndef GPUSORT_INDEX_READER_H
#define GPUSORT_INDEX_READER_H

#include "access/tableam.h"

#include "btree/btree_target.h"
#include "index/index_blocks.h"
#include "index/index_exchange.h"
#include "index/index_rows.h"

typedef struct GpuSortIndexReader
{
	GpuSortIndexTarget target;
	bool		by_pages;		/* not by the server's scan */
	ParallelTableScanDesc scan; /* that the server's scan is part of; NULL: it is none */
	GpuSortIndexBlocks blocks;	/* if by pages; blocks.reports: this is the leader */
	GpuSortIndexRows rows;		/* where they go */
	GpuSortRowExchange *exchange;	/* of rows with the other processes; NULL: there are
									 * none */
} GpuSortIndexReader;

/* To be called after each page or few rows. */
static inline void
gpusort_reader_exchange(GpuSortIndexReader *reader)
{
	if (reader->exchange != NULL)
		gpusort_exchange_rows(reader->exchange, &reader->rows);
}

/* Takes a row in, for table_index_build_scan(); state is the reader. */
extern void gpusort_reader_put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
								   bool alive, void *state);

#endif							/* GPUSORT_INDEX_READER_H */
