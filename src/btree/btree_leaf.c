/*
 * btree_leaf.c
 *		Makes leaf pages of the sorted tuples; see btree.h.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/parallel.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "btree/btree.h"

/* ---------- the leaf builder ---------- */

/* Begins with an empty page.  Memory comes from the current context. */
static void
gpusort_btree_leaf_begin(GpuSortLeafBuilder *leaf, const GpuSortIndexTarget *target,
						 BTScanInsert scan_key, const GpuSortLeafSink *sink)
{
	leaf->target = *target;
	leaf->scan_key = scan_key;
	leaf->truncate_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort high keys",
												   ALLOCSET_DEFAULT_SIZES);
	leaf->sink = *sink;
	leaf->min_space = BTGetTargetPageFreeSpace(target->index);
	leaf->last_posting = 0;

	leaf->low_key = palloc0(GPUSORT_PAGE_MAX_PIVOT);
	gpusort_pivot_remove_key((IndexTuple) leaf->low_key);

	gpusort_page_begin(&leaf->page, sink->get_page(sink->arg), 0);
}

/*
 * Returns the shortest key that tells the page's last tuple from the tuple before,
 * allocated in truncate_context.
 */
static IndexTuple
make_high_key(GpuSortLeafBuilder *leaf, const GpuSortPage *page)
{
	MemoryContext caller = MemoryContextSwitchTo(leaf->truncate_context);
	IndexTuple	high_key = _bt_truncate(leaf->target.index, gpusort_page_last_but_one(page),
										gpusort_page_last(page), leaf->scan_key);

	MemoryContextSwitchTo(caller);
	return high_key;
}

/* Replaces the page's last tuple with the high key, and hands the page to the sink. */
static void
end_page(GpuSortLeafBuilder *leaf, GpuSortPage *page, IndexTuple high_key, bool last)
{
	gpusort_page_remove_last(page);
	gpusort_page_set_high_key(page, high_key);
	gpusort_page_seal(page);
	leaf->sink.put_page(leaf->sink.arg, page->data, (IndexTuple) leaf->low_key, last);

	memcpy(leaf->low_key, high_key, IndexTupleSize(high_key));
	MemoryContextReset(leaf->truncate_context);
}

/* Ends the page before its last tuple, which becomes the first tuple of the next page. */
static void
gpusort_btree_leaf_turn_page(GpuSortLeafBuilder *leaf)
{
	GpuSortPage full = leaf->page;
	IndexTuple	first_right = gpusort_page_last(&full);
	Size		size = MAXALIGN(IndexTupleSize(first_right));
	IndexTuple	high_key;

	CHECK_FOR_INTERRUPTS();
	high_key = make_high_key(leaf, &full);
	gpusort_page_begin(&leaf->page, leaf->sink.get_page(leaf->sink.arg), 0);
	memcpy(gpusort_page_append(&leaf->page, size), first_right, size);
	end_page(leaf, &full, high_key, false);
}

/* Raises the server's own error for a tuple that is too large. */
static void
gpusort_btree_leaf_refuse(GpuSortLeafBuilder *leaf, IndexTuple tuple)
{
	_bt_check_third_page(leaf->target.index, leaf->target.heap, true, (Page) leaf->page.data,
						 tuple);
	elog(ERROR, "index row of %zu bytes does not fit on a page of index \"%s\"",
		 IndexTupleSize(tuple), RelationGetRelationName(leaf->target.index));
}

/* Returns whether the page ends before a tuple of `size` bytes. */
static inline bool
gpusort_btree_leaf_is_full(const GpuSortLeafBuilder *leaf, Size size)
{
	int			space = gpusort_page_space(&leaf->page);

	/* The high key may be longer than the last tuple, by a heap TID. */
	if (unlikely(space < (int) (size + MAXALIGN(sizeof(ItemPointerData)))))
		return true;
	return unlikely(space + leaf->last_posting < leaf->min_space && leaf->page.nitems > 1);
}

/*
 * Returns the place for the next tuple, of `size` bytes (MAXALIGN'd, at most
 * GPUSORT_PAGE_MAX_TUPLE), `posting` of which are its posting list.
 */
static inline char *
gpusort_btree_leaf_append(GpuSortLeafBuilder *leaf, Size size, int posting)
{
	if (gpusort_btree_leaf_is_full(leaf, size))
		gpusort_btree_leaf_turn_page(leaf);
	leaf->last_posting = posting;
	return gpusort_page_append(&leaf->page, size);
}

/* Appends a tuple as it is. */
static inline void
gpusort_btree_leaf_add(GpuSortLeafBuilder *leaf, IndexTuple tuple)
{
	Size		size = IndexTupleSize(tuple);
	char	   *to;

	if (unlikely(size > GPUSORT_PAGE_MAX_TUPLE))
		gpusort_btree_leaf_refuse(leaf, tuple);
	Assert(size == MAXALIGN(size));
	to = gpusort_btree_leaf_append(leaf, size, 0);

	/* Most keys are one word; don't call memcpy() for two. */
	if (likely(size == 16))
		memcpy(to, tuple, 16);
	else
		memcpy(to, tuple, size);
}

/*
 * Hands the last page of a slice to the sink, and begins anew.  The slice ends before `next`,
 * the first tuple of the next slice.  The sink cannot rely on the low keys of a slice's pages:
 * the low key of its first page is the high key of the page before, which has another builder.
 *
 * The next slice's first tuple is put on the page like any other, so that the high key
 * can take its place.  If that turns the page, the slice's last page has one tuple only.
 */
static void
gpusort_btree_leaf_end_slice(GpuSortLeafBuilder *leaf, IndexTuple next)
{
	GpuSortPage full;

	gpusort_btree_leaf_add(leaf, next);
	full = leaf->page;
	end_page(leaf, &full, make_high_key(leaf, &full), true);
	gpusort_page_begin(&leaf->page, leaf->sink.get_page(leaf->sink.arg), 0);
	leaf->last_posting = 0;
}

int
gpusort_btree_leaf_tuples_per_page(const GpuSortLeafBuilder *leaf, Size size)
{
	GpuSortLeafBuilder probe = *leaf;

	gpusort_page_clear(&probe.page);
	probe.last_posting = 0;
	while (!gpusort_btree_leaf_is_full(&probe, size))
	{
		probe.page.upper -= size;
		probe.page.lower += sizeof(ItemIdData);
		probe.page.nitems++;
	}

	/* the last tuple goes to the next page */
	return probe.page.nitems - 1;
}

/* Hands the last page of the index to the sink, if there is any. */
static void
gpusort_btree_leaf_finish(GpuSortLeafBuilder *leaf)
{
	if (leaf->page.nitems == 0)
		return;
	gpusort_page_omit_high_key(&leaf->page);
	gpusort_page_seal(&leaf->page);
	leaf->sink.put_page(leaf->sink.arg, leaf->page.data, (IndexTuple) leaf->low_key, true);
}

/* ---------- posting lists ---------- */

/* Begins, with nothing pending. */
static void
gpusort_dedup_begin(GpuSortDedup *dedup, GpuSortLeafBuilder *leaf)
{
	dedup->leaf = leaf;
	dedup->base = NULL;
	dedup->ntids = 0;
	dedup->max_tids = 0;
	dedup->kept = NULL;
}

/* Copies the first pending tuple, so that the caller may free all that were added. */
static void
gpusort_dedup_keep(GpuSortDedup *dedup)
{
	if (dedup->base == NULL || (char *) dedup->base == dedup->kept)
		return;
	if (dedup->kept == NULL)
		dedup->kept = palloc(INDEX_SIZE_MASK + 1);
	memcpy(dedup->kept, dedup->base, IndexTupleSize(dedup->base));
	dedup->base = (IndexTuple) dedup->kept;
}

static void
form_posting_tuple(GpuSortDedup *dedup)
{
	Size		key_bytes = IndexTupleSize(dedup->base);
	Size		tid_bytes = dedup->ntids * sizeof(ItemPointerData);
	Size		size = MAXALIGN(key_bytes + tid_bytes);
	char	   *place = gpusort_btree_leaf_append(dedup->leaf, size, size - key_bytes);
	IndexTuple	tuple = (IndexTuple) place;

	memcpy(place, dedup->base, key_bytes);
	tuple->t_info = (tuple->t_info & ~INDEX_SIZE_MASK) | size;
	BTreeTupleSetPosting(tuple, dedup->ntids, key_bytes);
	memcpy(place + key_bytes, dedup->tids, tid_bytes);
	memset(place + key_bytes + tid_bytes, 0, size - key_bytes - tid_bytes);
}

/* Puts the pending tuples on the leaf page. */
static void
gpusort_dedup_flush(GpuSortDedup *dedup)
{
	if (dedup->ntids > 1)
		form_posting_tuple(dedup);
	else if (dedup->ntids == 1)
		gpusort_btree_leaf_add(dedup->leaf, dedup->base);
	dedup->base = NULL;
	dedup->ntids = 0;
	dedup->max_tids = 0;
}

/*
 * Adds a tuple, which must stay where it is until the next gpusort_dedup_flush() or
 * gpusort_dedup_keep().  `equal` tells that its key equals that of the tuple before.
 */
static inline void
gpusort_dedup_add(GpuSortDedup *dedup, IndexTuple tuple, bool equal)
{
	if (equal && dedup->ntids < dedup->max_tids)
	{
		dedup->tids[dedup->ntids++] = tuple->t_tid;
		return;
	}
	if (dedup->ntids == 1)
		gpusort_btree_leaf_add(dedup->leaf, dedup->base);
	else
		gpusort_dedup_flush(dedup);

	dedup->base = tuple;
	dedup->tids[0] = tuple->t_tid;
	dedup->ntids = 1;
	dedup->max_tids = gpusort_dedup_max_tids(tuple);
}

/* ---------- the stream ---------- */

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
	gpusort_btree_leaf_begin(&stream->leaf, target, scan_key, sink);
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
			gpusort_btree_leaf_add(&stream->leaf, tuples[i]);
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
	gpusort_btree_leaf_finish(&stream->leaf);
}

void
gpusort_stream_end_before(GpuSortStream *stream, IndexTuple next)
{
	gpusort_dedup_flush(&stream->dedup);
	gpusort_btree_leaf_end_slice(&stream->leaf, next);
}
