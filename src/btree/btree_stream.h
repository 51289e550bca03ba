/*
 * btree_stream.h
 *		Puts tuples of a sort, from one position to another, into leaf pages.
 *
 * Tuples come from all over memory, so cache misses take the longest: a block of
 * tuples is prefetched while the block before it goes to the pages.
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
	bool		allequalimage;	/* as the metapage will have it */
	bool		deduplicate;	/* do equal tuples become posting lists? */
	GpuSortDedup dedup;
	GpuSortLeafBuilder leaf;
	uint64		position;		/* the first tuple of the block that is being put; all before it
								 * have been put */
} GpuSortStream;

/*
 * Begins, in the current context.  An index whose build enforces uniqueness gets no posting
 * lists, as in the server.
 */
extern void gpusort_stream_begin(GpuSortStream *stream, const GpuSortIndexTarget *target,
								 const GpuSortLeafSink *sink);

/* Takes tuples from this view, to which positions refer from now on. */
extern void gpusort_stream_open_view(GpuSortStream *stream, const GpuSortView *view);

/* Lets go of the view's tuples, which the caller may free then. */
extern void gpusort_stream_close_view(GpuSortStream *stream);

/*
 * Appends the tuples at positions from .. to - 1, which follow those of the call
 * before.  Raises the server's error if a tuple is too large for a btree page.
 */
extern void gpusort_stream_put(GpuSortStream *stream, uint64 from, uint64 to);

/*
 * End the stream: with the last tuple of the index, or before `next`, the first tuple of the next
 * slice.
 */
extern void gpusort_stream_finish(GpuSortStream *stream);
extern void gpusort_stream_end_before(GpuSortStream *stream, IndexTuple next);

#endif							/* GPUSORT_BTREE_STREAM_H */
