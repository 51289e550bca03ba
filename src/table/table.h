/*
 * table.h
 *		Puts rows in bulk to the end of tables that are in use.
 */
#ifndef GPUSORT_TABLE_H
#define GPUSORT_TABLE_H

#include "access/htup_details.h"
#include "access/transam.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "table/table_pages.h"

/* ---------- owner: which transaction and command own rows that are put into a table ---------- */

typedef struct GpuSortTableOwner
{
	TransactionId xid;
	CommandId	cid;
	/* rows are frozen, as the table is new and no other transaction can see it */
	bool		frozen;
} GpuSortTableOwner;

/*
 * Returns the transaction that gpusort_table_page_begin() wants to know, for a page that has only
 * rows of this owner.
 */
static inline TransactionId
gpusort_table_inserter(const GpuSortTableOwner *owner)
{
	return owner->frozen ? InvalidTransactionId : owner->xid;
}

/*
 * Fill in the header that all tuples begin with.  The caller has to complete t_infomask2,
 * t_infomask and t_hoff of each tuple.
 */
static inline void
gpusort_table_begin_header(HeapTupleHeader header, Relation heap, const GpuSortTableOwner *owner)
{
	memset(header, 0, SizeofHeapTupleHeader);
	HeapTupleHeaderSetXmin(header, owner->xid);
	HeapTupleHeaderSetCmin(header, owner->cid);
	header->t_infomask = HEAP_XMAX_INVALID;
	if (owner->frozen)
		HeapTupleHeaderSetXminFrozen(header);
	HeapTupleHeaderSetNatts(header, RelationGetNumberOfAttributes(heap));
}

/* ---------- append: rows in bulk to the end of a table, by whole pages ---------- */

/*
 * This takes three steps.  First tuples are formed in private pages.  Then blocks are claimed for
 * the pages, that is, the table is extended by as many empty blocks.  Then the pages are written
 * into these blocks.  So several processes can form and write pages at the same time, and yet have
 * the table in an order that they agree on, by claiming in this order.
 *
 * The rows belong to a transaction like any others: the pages go through shared buffers, and are
 * WAL-logged as the server's multi-insert logs them, so that logical decoding sees the rows.  A
 * parallel worker may append rows, for its leader's transaction and command.
 */

typedef struct GpuSortAppend
{
	Relation	heap;
	Size		save_bytes;		/* bytes left free on each page, for the fillfactor */
	HeapTupleHeaderData header; /* header that all tuples begin with */

	/* private pages; `page` describes the last used one, which is being filled */
	GpuSortTablePage page;
	int			used;
	int			made;
	char	  **pages;
	BlockNumber *blocks;		/* blocks of the first `claimed` pages */
	int			claimed;
	/* the rows of the first private page go to a block that has other rows */
	bool		continues;

	struct GpuSortAppendTarget *target;
} GpuSortAppend;

/*
 * Prepare to append rows to the table, in the current memory context.  The table must not be a
 * system catalog, which the server itself reads.
 */
extern GpuSortAppend *gpusort_table_append_begin(Relation heap, const GpuSortTableOwner *owner);

/*
 * Let the first rows go to the block that this session has last put rows into, or else to the
 * table's last one, as far as it has room, and unless they would have to clear the block's
 * all-visible bit.  Called before there are any private pages.
 */
extern void gpusort_table_append_continue(GpuSortAppend *append);

/* Begin another private page; for gpusort_table_append_tuple(). */
extern void gpusort_table_append_new_page(GpuSortAppend *append);

/*
 * Returns room for a tuple of `length` bytes, on the current private page or a new one.  The room
 * is zeroed but for the tuple's header, of which the caller completes t_infomask2, t_infomask and
 * t_hoff.  The tuple must fit into a page (MaxHeapTupleSize).
 */
static inline HeapTupleHeader
gpusort_table_append_tuple(GpuSortAppend *append, uint32 length)
{
	HeapTupleHeader tuple;

	if (append->page.data == NULL ||
		MAXALIGN(length) + append->save_bytes > gpusort_table_page_space(&append->page))
		gpusort_table_append_new_page(append);
	tuple = (HeapTupleHeader) gpusort_table_page_append(&append->page, length);
	memcpy(tuple, &append->header, SizeofHeapTupleHeader);
	return tuple;
}

/* Claim blocks for all private pages that have none yet: the table grows. */
extern void gpusort_table_append_claim(GpuSortAppend *append);

/*
 * Write the private pages into their blocks and forget them.  With `keep_last`, the last one is
 * kept, to be filled further.  `decode_end` says that logical decoding may forget TOAST data after
 * these rows, since no later row will refer to values that were toasted up to now.
 */
extern void gpusort_table_append_write(GpuSortAppend *append, bool keep_last, bool decode_end);

/* Forget the private pages, which have no blocks yet. */
extern void gpusort_table_append_forget(GpuSortAppend *append);

/* Release what does not go away with the memory context: the pin and the strategy. */
extern void gpusort_table_append_end(GpuSortAppend *append);

/* ---------- buckets: rows in bulk to the ends of several tables ---------- */

/*
 * Tuples are formed in private memory, in buckets, one for each table.  Processes that put rows
 * into the same tables take turns.  In its turn, a process gives its rows their places: those that
 * have room in a table's last page are put there, and for the others the table is extended.  Pages
 * that are full may be written after the turn.  So a table has its rows in the order of the turns,
 * without gaps, however few rows there are at a time, and no process needs a page of its own for
 * each table.
 *
 * Otherwise this works as appending to one table does.
 */

/*
 * The end of a table, in memory that all processes share.  A process may look at it only in its
 * turn.
 */
typedef struct GpuSortTableTail
{
	/* block for further rows, or InvalidBlockNumber if it is not known yet */
	BlockNumber block;
	BlockNumber first_block;	/* first block that this load's rows could have gone to */
	uint64		rows;			/* rows that workers have put into the table */
} GpuSortTableTail;

typedef struct GpuSortBuckets GpuSortBuckets;
typedef struct GpuSortBucket GpuSortBucket;

/* Prepare to append rows to several tables, in the current memory context. */
extern GpuSortBuckets *gpusort_table_buckets_begin(const GpuSortTableOwner *owner);

/*
 * Begin a bucket for a table, which must stay open and must not be a system catalog, which the
 * server itself reads.
 */
extern GpuSortBucket *gpusort_table_bucket_begin(GpuSortBuckets *buckets, Relation heap,
												 GpuSortTableTail *tail);

/* Returns room for a tuple, as gpusort_table_append_tuple() does. */
extern HeapTupleHeader gpusort_table_bucket_tuple(GpuSortBuckets *buckets, GpuSortBucket *bucket,
												  uint32 length);

/* Returns the header that the bucket's tuples begin with. */
extern HeapTupleHeader gpusort_table_bucket_header(GpuSortBucket *bucket);

/*
 * Give the rows of all buckets their places, and write them.  With `put_off`, pages that are full
 * are written later, by gpusort_table_buckets_write().  The rows are counted as inserted; a worker
 * counts them in the tail.  `decode_end` is that of gpusort_table_append_write(), and must not be
 * combined with `put_off`.
 */
extern void gpusort_table_buckets_place(GpuSortBuckets *buckets, bool put_off, bool decode_end);

/* Write the pages that were put off.  The buckets are empty afterwards. */
extern void gpusort_table_buckets_write(GpuSortBuckets *buckets);

/* Forget all rows, which have no places yet. */
extern void gpusort_table_buckets_forget(GpuSortBuckets *buckets);

/* Release what does not go away with the memory context: the strategy. */
extern void gpusort_table_buckets_end(GpuSortBuckets *buckets);

/* ---------- own rows: those that a command has put into a table ---------- */

/* They are read in the order of their TIDs.  Other transactions may have put rows between them. */

typedef struct GpuSortOwnRows
{
	Relation	heap;
	GpuSortTableOwner owner;
	BufferAccessStrategy strategy;
	BlockNumber next;			/* next block to be read */
	BlockNumber end;
	PGAlignedBlock page;		/* a copy of the page before `next` */
	int			count;			/* number of the command's rows in this page */
	int			at;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
} GpuSortOwnRows;

/* Returns the first block that rows appended from now on can go to. */
extern BlockNumber gpusort_table_own_rows_first_block(Relation heap);

/* Returns whether a row was put by this owner. */
extern bool gpusort_table_row_is_own(const GpuSortTableOwner *owner, HeapTupleHeader row);

/*
 * Begin to read the rows that this owner has put, from block `from` on.  None of these rows may be
 * changed any more.
 */
extern void gpusort_table_own_rows_begin(GpuSortOwnRows *rows, Relation heap,
										 const GpuSortTableOwner *owner, BlockNumber from);

/* Get the next row, which stays valid until the next call.  Returns false if there is none. */
extern bool gpusort_table_own_rows_next(GpuSortOwnRows *rows, HeapTuple tuple);

/* Release what does not go away with the memory context: the strategy. */
extern void gpusort_table_own_rows_end(GpuSortOwnRows *rows);

/* ---------- space: whether rows have room in the free space of a table ---------- */

/*
 * Returns whether a good part of `bytes` bytes of rows would fit into free space of the table's
 * pages.  If so, the table should not grow: appended rows would leave that space unused.
 */
extern bool gpusort_table_has_space(Relation heap, double bytes);

#endif							/* GPUSORT_TABLE_H */
