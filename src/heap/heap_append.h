/*
 * heap_append.h
 *		Appends rows in bulk to the end of a table, by whole pages.
 *
 * This takes three steps.  First tuples are formed in private pages.  Then blocks are claimed for
 * the pages, that is, the table is extended by as many empty blocks.  Then the pages are written
 * into these blocks.  So several processes can form and write pages at the same time, and yet have
 * the table in an order that they agree on, by claiming in this order.
 *
 * The rows belong to a transaction like any others: the pages go through shared buffers, and are
 * WAL-logged as the server's multi-insert logs them, so that logical decoding sees the rows.  A
 * parallel worker may append rows, for its leader's transaction and command.
 */
#ifndef GPUSORT_HEAP_APPEND_H
#define GPUSORT_HEAP_APPEND_H

#include "access/htup_details.h"
#include "storage/block.h"
#include "utils/rel.h"

#include "heap/heap_owner.h"
#include "heap/heap_page.h"

typedef struct GpuSortAppend
{
	Relation	heap;
	Size		save_bytes;		/* bytes left free on each page, for the fillfactor */
	HeapTupleHeaderData header; /* header that all tuples begin with */

	/* private pages; `page` describes the last used one, which is being filled */
	GpuSortHeapPage page;
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
extern GpuSortAppend *gpusort_append_begin(Relation heap, const GpuSortAppendOwner *owner);

/*
 * Let the first rows go to the block that this session has last put rows into, or else to the
 * table's last one, as far as it has room, and unless they would have to clear the block's
 * all-visible bit.  Called before there are any private pages.
 */
extern void gpusort_append_continue(GpuSortAppend *append);

/* Begin another private page; for gpusort_append_tuple(). */
extern void gpusort_append_new_page(GpuSortAppend *append);

/*
 * Returns room for a tuple of `length` bytes, on the current private page or a new one.  The room
 * is zeroed but for the tuple's header, of which the caller completes t_infomask2, t_infomask and
 * t_hoff.  The tuple must fit into a page (MaxHeapTupleSize).
 */
static inline HeapTupleHeader
gpusort_append_tuple(GpuSortAppend *append, uint32 length)
{
	HeapTupleHeader tuple;

	if (append->page.data == NULL ||
		MAXALIGN(length) + append->save_bytes > gpusort_heap_page_space(&append->page))
		gpusort_append_new_page(append);
	tuple = (HeapTupleHeader) gpusort_heap_page_append(&append->page, length);
	memcpy(tuple, &append->header, SizeofHeapTupleHeader);
	return tuple;
}

/* Claim blocks for all private pages that have none yet: the table grows. */
extern void gpusort_append_claim(GpuSortAppend *append);

/*
 * Write the private pages into their blocks and forget them.  With `keep_last`, the last one is
 * kept, to be filled further.  `decode_end` says that logical decoding may forget TOAST data after
 * these rows, since no later row will refer to values that were toasted up to now.
 */
extern void gpusort_append_write(GpuSortAppend *append, bool keep_last, bool decode_end);

/* Forget the private pages, which have no blocks yet. */
extern void gpusort_append_forget(GpuSortAppend *append);

/* Release what does not go away with the memory context: the pin and the strategy. */
extern void gpusort_append_end(GpuSortAppend *append);

#endif							/* GPUSORT_HEAP_APPEND_H */
