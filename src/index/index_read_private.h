/*
 * index_read_private.h
 *		Reads the table of an index build.
 */
#ifndef GPUSORT_INDEX_READ_PRIVATE_H
#define GPUSORT_INDEX_READ_PRIVATE_H

#include "access/parallel.h"
#include "access/tableam.h"
#include "port/atomics.h"
#include "storage/block.h"

#include "btree/btree.h"
#include "sort/sort_parts.h"
#include "team/workers.h"

/* ---------- blocks: pages of the table, dealt out to processes ---------- */

/*
 * The pages that processes have read are counted, too.
 *
 * The processes take some pages at a time from one counter, so rows do not arrive in the order
 * of their TIDs.
 */

/* What all processes of a build share. */
typedef struct GpuSortSharedBlocks
{
	pg_atomic_uint32 next;		/* first page that no process has taken */
	pg_atomic_uint32 read;		/* pages that all processes have read */
} GpuSortSharedBlocks;

/*
 * What one process knows of the table's pages.  The caller sets the first two fields and zeroes the
 * rest.
 */
typedef struct GpuSortIndexBlocks
{
	GpuSortSharedBlocks *shared;	/* NULL if this process reads all pages */
	/* this process (the leader) shows in pg_stat_progress_create_index what all have read */
	bool		reports;
	BlockNumber total;			/* pages of the table; 0 if it is not read page by page */
	BlockNumber taken;			/* if this process reads all pages: how many it has taken */
	BlockNumber read;			/* pages that this process has read */
} GpuSortIndexBlocks;

extern void gpusort_blocks_init(GpuSortSharedBlocks *shared);

/* Returns how many pages all processes together have read. */
extern BlockNumber gpusort_blocks_read(const GpuSortIndexBlocks *blocks);

/*
 * Show in the progress view how many pages all processes have read, if this is the process that
 * reports.
 */
extern void gpusort_blocks_report(const GpuSortIndexBlocks *blocks);

/* ---------- rows: takes in the rows that one process reads ---------- */

/*
 * If the pool has memory for the process's part of the shared sort, rows go to this part until it
 * can't take any more.  Later rows, or all if there is no part, go to a sort in private memory.
 * The leader's is the sort that the index is made from; a worker's has no key columns, and is
 * emptied into a queue to the leader whenever it holds a batch (GpuSortRowExchange).
 */

typedef struct GpuSortIndexRows
{
	GpuSort    *sort;
	GpuSortParts *parts;		/* parts of all processes; NULL if there are none */
	GpuSort    *part;			/* this process's part; NULL if it has none */
	bool		part_full;		/* the part is full, so rows go into `sort` */
	bool		failed;			/* some row could not be taken in, or see `hopeless` */
	bool		hopeless;		/* set with `failed` in the leader: not all rows are going to fit */
} GpuSortIndexRows;

/* Begin this process's part, if there are parts; called before the first row. */
extern void gpusort_index_begin_part(GpuSortIndexRows *rows, Relation index);

/* Hand this process's part to the leader; called after the last row. */
extern void gpusort_index_finish_part(GpuSortIndexRows *rows);

/*
 * Put a row of these column values into the sort, unless an earlier row has failed.  Rows that are
 * not alive don't count for uniqueness.
 */
extern void gpusort_index_put_values(GpuSortIndexRows *rows, const Datum *values,
									 const bool *isnull, ItemPointer tid, bool alive);

/* ---------- exchange: hands rows from workers to the leader ---------- */

/*
 * Only rows that find no memory in the pool go this way.  A worker puts them into a sort without
 * key columns, which is just a row store, and sends and empties it whenever it holds a batch.  The
 * leader takes the rows into its own sort, which encodes their keys.
 */

/* In a worker, its end of its queue; in the leader, its ends of all queues. */
typedef struct GpuSortRowExchange GpuSortRowExchange;

/* Returns the declaration of the member of shared memory that the queues of so many workers are. */
extern GpuSortMember gpusort_exchange_member(int workers);

/* Attach the leader to the queues, once the workers are launched. */
extern GpuSortRowExchange *gpusort_exchange_attach(char *member, const ParallelContext *context);

/* Attach a worker to its queue. */
extern GpuSortRowExchange *gpusort_exchange_join(char *member, dsm_segment *segment);

/*
 * Every process that reads rows calls this now and then: a worker sends its rows if they make a
 * batch, the leader takes in what workers have sent.
 */
extern void gpusort_exchange_rows(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* Send what a worker has left, after it has read all its rows. */
extern void gpusort_exchange_send_rest(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/*
 * Take into the leader's sort what workers have sent so far, without waiting.  Returns whether
 * there was anything.
 */
extern bool gpusort_exchange_receive(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* Returns how many bytes of rows this worker has sent, or this leader has received. */
extern uint64 gpusort_exchange_moved_bytes(const GpuSortRowExchange *exchange);

/* Returns whether some worker may still send rows to this leader. */
extern bool gpusort_exchange_is_open(const GpuSortRowExchange *exchange);

/*
 * Detach from the queues.  A worker does so after its last row and after its report
 * (index_shared_private.h), so that the leader, when it finds the queue detached, can read the
 * report.  If the leader does so early, workers find that their rows can't be taken in.
 */
extern void gpusort_exchange_close(GpuSortRowExchange *exchange);

/* ---------- reader: a process that reads the table, or its share of it ---------- */

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

/* ---------- pages: reads the heap page by page ---------- */

/* Returns whether the table can be read page by page. */
extern bool gpusort_index_can_read_pages(const GpuSortIndexTarget *target);

/* ---------- scan: reads the table in either way ---------- */

/*
 * Read the table, or this process's share of it.  Returns the number of live table rows,
 * as table_index_build_scan() does.
 */
extern double gpusort_index_scan(GpuSortIndexReader *reader);

#endif							/* GPUSORT_INDEX_READ_PRIVATE_H */
