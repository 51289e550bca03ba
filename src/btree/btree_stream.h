/*
 * btree_stream.h
 *		Tuples of a sort, from one position to another, into leaf pages.
 *
 * Tuples come from all over memory, so what takes longest is the cache misses: a
 * block of them is prefetched while the one before goes to the pages.
 */
#ifndef GPUSORT_BTREE_STREAM_H
#define GPUSORT_BTREE_STREAM_H

#include "btree/btree_dedup.h"
#include "btree/btree_leaf.h"
#include "btree/btree_target.h"
#include "sort/sort_view.h"

typedef struct GpuSortStream
{
	GpuSortView view;
	bool		allequalimage;	/* for the metapage */
	bool		deduplicate;
	GpuSortDedup dedup;
	GpuSortLeafBuilder leaf;
	uint64		position;		/* tuples before this have been put, of a block that is
								 * being put none */
} GpuSortStream;

/*
 * An index whose build enforces uniqueness gets no posting lists, as in the server.
 * Memory comes from the current context.
 */
extern void gpusort_stream_begin(GpuSortStream *stream, const GpuSortIndexTarget *target,
								 const GpuSortLeafSink *sink);

/* Positions are those of this view from now on. */
extern void gpusort_stream_open_view(GpuSortStream *stream, const GpuSortView *view);

/* Need its tuples no more. */
extern void gpusort_stream_close_view(GpuSortStream *stream);

/*
 * Append the tuples at positions from .. to - 1, which follow those of the call
 * before.  ERROR, as in the server, if a tuple is too large for a btree page.
 */
extern void gpusort_stream_put(GpuSortStream *stream, uint64 from, uint64 to);

/* The stream ends here: with the last tuple of all, or before this one. */
extern void gpusort_stream_finish(GpuSortStream *stream);
extern void gpusort_stream_end_before(GpuSortStream *stream, IndexTuple next);

#endif							/* GPUSORT_BTREE_STREAM_H */
