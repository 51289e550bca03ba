/*
 * heap_append.h
 *		Rows in bulk to the end of a table, by whole pages.
 *
 * Tuples are formed in pages that are private at first.  Then blocks are claimed for them, and then
 * they are written into these: three steps, so that several processes can form and write pages at the
 * same time and yet have the table in an order that they agree on, by claiming in this order.
 *
 * The rows are a transaction's as any others: pages go through shared buffers, and are
 * WAL-logged as the server's multi-insert logs them, so that logical decoding sees the rows.  A parallel
 * worker may do it, for its leader's transaction and command.
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
	Size		save_bytes;		/* of each page, for the fillfactor */
	HeapTupleHeaderData header; /* what all tuples begin with */

	/* private pages, of which the last one that is used is being filled */
	GpuSortHeapPage page;
	int			used;
	int			made;
	char	  **pages;
	BlockNumber *blocks;		/* of those that have one */
	int			claimed;
	bool		continues;		/* the first one's rows go to a block that has others */

	struct GpuSortAppendTarget *target;
} GpuSortAppend;

/* In the current context.  The table must be none that the server itself looks at. */
extern GpuSortAppend *gpusort_append_begin(Relation heap, const GpuSortAppendOwner *owner);

/*
 * Before there are pages: go on in the block that this session has last put rows into, or else in the table's last one, as far
 * as it has room, and unless the visibility map would have to be told.
 */
extern void gpusort_append_continue(GpuSortAppend *append);

extern void gpusort_append_new_page(GpuSortAppend *append);

/*
 * Room for a tuple of so many bytes, zero but for its header: t_infomask2, t_infomask and t_hoff are to
 * be completed.  It must fit into a page (MaxHeapTupleSize).
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

/* Blocks for all pages: the table grows. */
extern void gpusort_append_claim(GpuSortAppend *append);

/*
 * Write the pages, which are private no more; with "keep_last" the last one is kept to be filled further.
 * "decode_end": whatever was toasted for these rows, none of it will be referred to later on.
 */
extern void gpusort_append_write(GpuSortAppend *append, bool keep_last, bool decode_end);

/* Forget the pages, which have no blocks yet. */
extern void gpusort_append_forget(GpuSortAppend *append);

/* Give back what is not memory. */
extern void gpusort_append_end(GpuSortAppend *append);

#endif							/* GPUSORT_HEAP_APPEND_H */
