/*
 * btree_stream.c
 *		Puts tuples of a sort, from one position to another, into leaf pages; see
 *		btree_stream.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/parallel.h"

#include "btree/btree_stream.h"

/* How many tuples are put at a time, while as many are being prefetched. */
#define PUT_BLOCK		32

void
gpusort_stream_begin(GpuSortStream *stream, const GpuSortIndexTarget *target,
					 const GpuSortLeafSink *sink)
{
	Relation	index = target->index;
	BTScanInsert scan_key = _bt_mkscankey(index, NULL);

	stream->allequalimage = _bt_allequalimage(index, !IsParallelWorker());
	stream->deduplicate = stream->allequalimage && !target->info->ii_Unique &&
		BTGetDeduplicateItems(index);
	scan_key->allequalimage = stream->allequalimage;
	gpusort_leaf_begin(&stream->leaf, target, scan_key, sink);
	gpusort_dedup_begin(&stream->dedup, &stream->leaf);
}

void
gpusort_stream_open_view(GpuSortStream *stream, const GpuSortView *view)
{
	stream->view = *view;
}

void
gpusort_stream_close_view(GpuSortStream *stream)
{
	gpusort_dedup_keep(&stream->dedup);
}

/*
 * Gets the pointers of a block of tuples, and prefetches the tuples: the cache line that
 * a tuple begins in and, if tuples are longer than two words, the line that a tuple of
 * average size ends in.  Returns the number of tuples.
 */
static int
load_block(const GpuSortView *view, uint64 from, uint64 to, void **tuples)
{
	int			count = (int) Min(to - from, PUT_BLOCK);

	if (count == 0)
		return 0;
	gpusort_view_fetch(view, from, count, tuples);
	for (int i = 0; i < count; i++)
	{
		prefetch_line(tuples[i]);
		if (view->row_bytes > sizeof(IndexTupleData) + sizeof(uint64))
			prefetch_line((char *) tuples[i] + view->row_bytes - 1);
	}
	return count;
}

static void
put_block(GpuSortStream *stream, void **tuples, int count, uint64 from)
{
	if (!stream->deduplicate)
		for (int i = 0; i < count; i++)
			gpusort_leaf_add(&stream->leaf, tuples[i]);
	else
		for (int i = 0; i < count; i++)
			gpusort_dedup_add(&stream->dedup, tuples[i],
							  gpusort_view_is_equal(&stream->view, from + i));
}

void
gpusort_stream_put(GpuSortStream *stream, uint64 from, uint64 to)
{
	void	   *blocks[2][PUT_BLOCK];
	int			count = load_block(&stream->view, from, to, blocks[0]);

	for (int which = 0; count > 0; which ^= 1)
	{
		int			next = load_block(&stream->view, from + count, to, blocks[which ^ 1]);

		stream->position = from;
		put_block(stream, blocks[which], count, from);
		from += count;
		count = next;
	}
}

void
gpusort_stream_finish(GpuSortStream *stream)
{
	gpusort_dedup_flush(&stream->dedup);
	gpusort_leaf_finish(&stream->leaf);
}

void
gpusort_stream_end_before(GpuSortStream *stream, IndexTuple next)
{
	gpusort_dedup_flush(&stream->dedup);
	gpusort_leaf_end_slice(&stream->leaf, next);
}
