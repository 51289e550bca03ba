/*
 * table.h
 *		Puts tuples in bulk into pages of tables.
 */
#ifndef GPUSORT_TABLE_H
#define GPUSORT_TABLE_H

#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "table/storage.h"
#include "table/table_page.h"

/* ---------- owner: which transaction and command own rows that are put into a table ---------- */

typedef struct GpuSortTableOwner
{
	TransactionId xid;
	CommandId	cid;
	/* rows are frozen, as the table is new and no other transaction can see it */
	bool		frozen;
} GpuSortTableOwner;

/* ---------- buffers: how the pages of a table in use get theirs ---------- */

typedef struct GpuSortTableBuffers
{
	/*
	 * The first pages that a process writes, so many, stay in shared buffers as those of an INSERT
	 * do.  Further ones go through a ring of buffers, as those of a COPY.
	 */
	BlockNumber kept;
	/* No other session can see the table, so that blocks once claimed stay empty. */
	bool		is_new;
} GpuSortTableBuffers;

/* ---------- sink: tuples in bulk into pages of tables ---------- */

/*
 * This takes three steps.  First tuples are put into private memory of the process.  Then they are
 * given their places: the tables are extended by as many blocks.  Then they are written into these
 * blocks.  So several processes can form and write tuples at the same time, and yet have the tables
 * in an order that they agree on, by giving places in this order.
 *
 * There are three kinds of sinks, which differ in how pages are written and logged:
 *
 * A new table, which no other session can see, gets whole pages past the shared buffers
 * (storage.h).
 *
 * A table that is in use gets whole pages through shared buffers.  The rows belong to a transaction
 * like any others, and are WAL-logged as the server's multi-insert logs them, so that logical
 * decoding sees them.  A parallel worker may put rows, for its leader's transaction and command.
 *
 * Several tables in use get rows, few for each, into their last pages first.  Processes that put
 * rows into the same tables take turns.  In its turn, a process gives its rows their places: those
 * that have room in a table's last page are put there, and for the others the table is extended.
 * Pages that are full may be written after the turn.  So a table has its rows in the order of the
 * turns, without gaps, however few rows there are at a time, and no process needs a page of its own
 * for each table.
 *
 * No table may be a system catalog, which the server itself reads.
 */
typedef struct GpuSortTableSink GpuSortTableSink;

/* Where the tuples of one table go, in this process. */
typedef struct GpuSortTableTail
{
	GpuSortTableSink *sink;
	Relation	heap;
	Size		save_bytes;		/* bytes left free on each page, for the fillfactor */
	HeapTupleHeaderData header; /* header that the owner's tuples begin with */
	int			toast_options;	/* options with which the toaster inserts */
	GpuSortTablePage page;		/* the private page that is being filled, if there is one */
} GpuSortTableTail;

/*
 * The end of a table, in memory that all processes share.  A process may look at it only in its
 * turn.
 */
typedef struct GpuSortTableEnd
{
	/* block for further rows, or InvalidBlockNumber if it is not known yet */
	BlockNumber block;
	BlockNumber first_block;	/* first block that this load's rows could have gone to */
	uint64		rows;			/* rows that workers have put into the table */
} GpuSortTableEnd;

/*
 * Begin a sink, in the current memory context, to which the storage belongs, too.  `owner` is NULL
 * if tuples come with the transactions that own them.  `toast_options` are those of heap_insert(),
 * without HEAP_INSERT_FROZEN.
 */
extern GpuSortTableSink *gpusort_table_sink_new(Relation heap, GpuSortStorage *storage,
												const GpuSortTableOwner *owner, int toast_options);
extern GpuSortTableSink *gpusort_table_sink_append(Relation heap, const GpuSortTableOwner *owner,
												   const GpuSortTableBuffers *buffers,
												   int toast_options);
extern GpuSortTableSink *gpusort_table_sink_several(const GpuSortTableOwner *owner,
													const GpuSortTableBuffers *buffers);

/* Returns where the tuples of the sink's only table go. */
extern GpuSortTableTail *gpusort_table_sink_tail(GpuSortTableSink *sink);

/* Add a table, which must stay open, to a sink of several; returns where its tuples go. */
extern GpuSortTableTail *gpusort_table_sink_add(GpuSortTableSink *sink, Relation heap,
												GpuSortTableEnd *end, int toast_options);

/*
 * In a sink of one table in use, let the first rows go to the block that this session has last put
 * rows into, or else to the table's last one, as far as it has room, and unless they would have to
 * clear the block's all-visible bit.  Called before any tuple is put.  Rows of several tables go to
 * their last blocks in any case, and a new table has none.
 */
extern void gpusort_table_sink_continue(GpuSortTableSink *sink);

/* For gpusort_table_room(): returns room elsewhere than on the page that is being filled. */
extern HeapTupleHeader gpusort_table_more_room(GpuSortTableTail *tail, uint32 length);

/*
 * Returns zeroed room for a tuple of `length` bytes, by the server's rules.  The caller fills it,
 * but for t_ctid.  The tuple must fit into a page (MaxHeapTupleSize).
 */
static inline HeapTupleHeader
gpusort_table_room(GpuSortTableTail *tail, uint32 length)
{
	if (tail->page.data == NULL ||
		MAXALIGN(length) + tail->save_bytes > gpusort_table_page_space(&tail->page))
		return gpusort_table_more_room(tail, length);
	return (HeapTupleHeader) gpusort_table_page_append(&tail->page, length);
}

/* Returns whether a tuple has to go through the toaster, which workers can't use. */
static inline bool
gpusort_table_needs_toaster(uint16 infomask, uint32 length)
{
	return (infomask & HEAP_HASEXTERNAL) != 0 || length > TOAST_TUPLE_THRESHOLD;
}

/*
 * Put a tuple by way of the toaster: the caller fills the zeroed room that the first function
 * returns, and then calls one of the others.  If what the toaster makes of the tuple is too long
 * for a page, gpusort_table_toast() raises the server's error, and gpusort_table_try_toast()
 * returns false.
 */
extern HeapTupleHeader gpusort_table_toaster_room(GpuSortTableTail *tail, uint32 length);
extern void gpusort_table_toast(GpuSortTableTail *tail);
extern bool gpusort_table_try_toast(GpuSortTableTail *tail);

/*
 * Give all tuples their places, and write them.  `decode_end` says that logical decoding may forget
 * TOAST data after these rows, since no later row will refer to values that were toasted up to now.
 * With `keep_last`, a last page of a single table is kept, to be filled further.
 *
 * In a sink of several tables, gpusort_table_sink_place() writes the rows already, and counts them
 * as inserted; a worker counts them in the table's end.  With `put_off`, which must not be combined
 * with `decode_end`, it leaves pages that are full, and the search for buffers, to
 * gpusort_table_sink_write(), since others wait for their turns.
 */
extern void gpusort_table_sink_place(GpuSortTableSink *sink, bool put_off, bool decode_end);
extern void gpusort_table_sink_write(GpuSortTableSink *sink, bool keep_last, bool decode_end);

/*
 * For a process that writes a new table alone: give full pages their places and write them, if
 * there are enough of them.
 */
extern void gpusort_table_sink_advance(GpuSortTableSink *sink);

/* Forget all tuples, which have no places yet. */
extern void gpusort_table_sink_forget(GpuSortTableSink *sink);

/* Release what does not go away with the memory context. */
extern void gpusort_table_sink_end(GpuSortTableSink *sink);

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
