/*
 * table_sink_private.h
 *		What the kinds of sinks have in common, and how some put rows into blocks.
 */
#ifndef GPUSORT_TABLE_SINK_PRIVATE_H
#define GPUSORT_TABLE_SINK_PRIVATE_H

#include "access/htup_details.h"
#include "storage/block.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "table/table.h"

/* ---------- sink ---------- */

/* What one kind of sinks does; see the functions of table.h. */
typedef struct GpuSortTableSinkMethods
{
	HeapTupleHeader (*more_room) (GpuSortTableTail *tail, uint32 length);
	/* NULL if there is nothing to be done */
	void		(*go_on) (GpuSortTableSink *sink);
	void		(*place) (GpuSortTableSink *sink, bool put_off, bool decode_end);
	void		(*write) (GpuSortTableSink *sink, bool keep_last, bool decode_end);
	void		(*forget) (GpuSortTableSink *sink);
	void		(*end) (GpuSortTableSink *sink);
} GpuSortTableSinkMethods;

/* What all sinks begin with. */
struct GpuSortTableSink
{
	const GpuSortTableSinkMethods *methods;
	MemoryContext context;		/* of the sink, and of all that it needs for long */
	MemoryContext toast_context;	/* reset for each tuple that goes through the toaster */
	HeapTuple	toasted;		/* the tuple that is going through the toaster */
};

/* Begin a sink of this kind, in the current memory context. */
extern void gpusort_table_begin_sink(GpuSortTableSink *sink,
									 const GpuSortTableSinkMethods *methods);

/* Begin to put tuples into a table; `owner` is NULL if tuples come with those who own them. */
extern void gpusort_table_begin_tail(GpuSortTableTail *tail, GpuSortTableSink *sink, Relation heap,
									 const GpuSortTableOwner *owner, int toast_options);

/* ---------- pages: a sink of whole pages of one table ---------- */

typedef struct GpuSortTablePages
{
	GpuSortTableSink sink;		/* must be first field */
	GpuSortTableTail tail;
	/* transaction that inserts the rows; see gpusort_table_page_begin() */
	TransactionId inserter;
	Size		save_bytes;		/* save_bytes of a page that has no other rows */

	/* private pages; `tail.page` describes the last used one, which is being filled */
	int			used;
	int			made;			/* allocated length of the arrays */
	char	  **pages;
	BlockNumber *blocks;		/* blocks of the first `claimed` pages */
	int			claimed;
} GpuSortTablePages;

/* The arrays grow by so many pages at a time. */
#define GPUSORT_TABLE_PAGES_MADE	16

/* Begin a sink of whole pages, in the current memory context. */
extern void gpusort_table_pages_begin(GpuSortTablePages *pages,
									  const GpuSortTableSinkMethods *methods, Relation heap,
									  const GpuSortTableOwner *owner, int toast_options);

/* Make the arrays longer, by GPUSORT_TABLE_PAGES_MADE pages. */
extern void gpusort_table_pages_make(GpuSortTablePages *pages);

/* Fill another page, in `data`, for which the arrays have room. */
extern void gpusort_table_pages_next(GpuSortTablePages *pages, char *data);

/* Make the page that is being filled the first and only one. */
extern void gpusort_table_pages_keep_last(GpuSortTablePages *pages);

/* Forget all pages. */
extern void gpusort_table_pages_forget(GpuSortTablePages *pages);

/* ---------- rows into the blocks of a table that is in use ---------- */

/* The buffers of a sink; see GpuSortTableBuffers. */
typedef struct GpuSortTableRing
{
	GpuSortTableBuffers buffers;	/* `kept` counts down */
	BufferAccessStrategy strategy;	/* a ring, for pages that are not kept */
} GpuSortTableRing;

/* Begin with a ring, in the current memory context; it ends with FreeAccessStrategy(). */
extern void gpusort_table_ring_begin(GpuSortTableRing *ring, const GpuSortTableBuffers *buffers);

/* Returns the strategy by which the next page gets its buffer. */
static inline BufferAccessStrategy
gpusort_table_strategy(const GpuSortTableRing *ring)
{
	return ring->buffers.kept > 0 ? NULL : ring->strategy;
}

/*
 * Pin and lock a block that was claimed, in order to write it.  Returns false, with the block
 * neither locked nor pinned, if another process has put rows into it.
 */
extern bool gpusort_table_lock_if_empty(Relation heap, GpuSortTableRing *ring, BlockNumber block,
										Buffer *buffer);

/*
 * Pin and lock an empty block: the block that was claimed or, if another process has put rows into
 * it, a new one at the end, to which *block is set.
 */
extern Buffer gpusort_table_lock_empty(Relation heap, GpuSortTableRing *ring, BlockNumber *block);

/*
 * Put a row into a page that has room for it.  Called in a critical section, so a failure is a
 * PANIC.
 */
extern OffsetNumber gpusort_table_put_row(Page page, BlockNumber block, HeapTupleHeader row,
										  uint32 length);

/* How rows put into a table are logged. */
typedef struct GpuSortTableLog
{
	bool		use_wal;
	bool		decoded;		/* logical decoding is interested in the rows */
	bool		frozen;			/* these rows and all others in their block are frozen */
	/* the visibility map's page, if the record changes it too; else invalid */
	Buffer		map;
	PGAlignedBlock record;		/* buffer for the data of a WAL record */
} GpuSortTableLog;

/* Find out how rows put into the table are logged. */
extern void gpusort_table_log_begin(GpuSortTableLog *log, Relation heap);

/*
 * Log `count` rows that were put into a block, as heap_multi_insert() does.  `offsets` are their
 * line pointers; NULL if the block has no other rows.  `decode_end` says that no later row will
 * refer to values that were toasted for these rows and those before.
 */
extern void gpusort_table_log_rows(GpuSortTableLog *log, Buffer buffer, const OffsetNumber *offsets,
								   int count, bool decode_end);

#endif							/* GPUSORT_TABLE_SINK_PRIVATE_H */
