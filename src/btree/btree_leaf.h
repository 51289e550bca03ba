/*
 * btree_leaf.h
 *		Makes leaf pages of a sorted stream of tuples.
 *
 * The builder knows nothing of block numbers, siblings, WAL or files: it fills
 * pages that its sink provides and hands each to the sink when it is complete
 * but for its links.  So it can be run over a part of the key space, by itself.
 *
 * How full pages get is the server's rule, so that an index is as large as one
 * it builds itself: a page ends before the first tuple that leaves less than the
 * fillfactor's free space behind, unless that would leave the page without a tuple.
 * That tuple begins the next page.  The shortest key that tells it from the tuple
 * before becomes the high key of the page and the key of the next page's downlink
 * (suffix truncation, done by the server's _bt_truncate()).  A posting list does
 * not count against the free space when its tuple is the last, since a high key
 * never holds it.
 */
#ifndef GPUSORT_BTREE_LEAF_H
#define GPUSORT_BTREE_LEAF_H

#include "access/nbtree.h"

#include "btree/btree_page.h"
#include "btree/btree_target.h"

/* Where the pages come from and go to. */
typedef struct GpuSortLeafSink
{
	void	   *arg;

	/* Returns an empty page buffer. */
	char	   *(*get_page) (void *arg);

	/*
	 * Takes a page that has no links yet.  `low_key` is the key of its downlink, a
	 * pivot tuple that has no key for the leftmost page, and is valid for the call
	 * only.  `last` says that this is the last page of the index or slice.
	 */
	void		(*put_page) (void *arg, char *page, IndexTuple low_key, bool last);
} GpuSortLeafSink;

typedef struct GpuSortLeafBuilder
{
	GpuSortIndexTarget target;
	BTScanInsert scan_key;		/* how _bt_truncate() compares */
	MemoryContext truncate_context; /* reset for each page */
	GpuSortLeafSink sink;
	int			min_space;		/* bytes that a page keeps free, by the fillfactor */

	GpuSortPage page;			/* data NULL: no page begun */
	int			last_posting;	/* bytes of the last tuple's posting list */
	char	   *low_key;		/* the page's low key; MAXALIGN'd */
} GpuSortLeafBuilder;

/* Begins with an empty page.  Memory comes from the current context. */
extern void gpusort_leaf_begin(GpuSortLeafBuilder *leaf, const GpuSortIndexTarget *target,
							   BTScanInsert scan_key, const GpuSortLeafSink *sink);

/* Hands the last page of the index to the sink, if there is any. */
extern void gpusort_leaf_finish(GpuSortLeafBuilder *leaf);

/*
 * Hands the last page of a slice to the sink, and begins anew.  The slice ends before `next`,
 * the first tuple of the next slice.  The sink cannot rely on the low keys of a slice's pages:
 * the low key of its first page is the high key of the page before, which has another builder.
 */
extern void gpusort_leaf_end_slice(GpuSortLeafBuilder *leaf, IndexTuple next);

/*
 * Returns how many tuples of `size` bytes, without posting lists, are put on each page; the last
 * page may get one more.
 */
extern int	gpusort_leaf_tuples_per_page(const GpuSortLeafBuilder *leaf, Size size);

/* For the inline part below only. */
extern void gpusort_leaf_turn_page(GpuSortLeafBuilder *leaf);
extern void gpusort_leaf_refuse(GpuSortLeafBuilder *leaf, IndexTuple tuple);

/* Returns whether the page ends before a tuple of `size` bytes. */
static inline bool
gpusort_leaf_is_full(const GpuSortLeafBuilder *leaf, Size size)
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
gpusort_leaf_append(GpuSortLeafBuilder *leaf, Size size, int posting)
{
	if (gpusort_leaf_is_full(leaf, size))
		gpusort_leaf_turn_page(leaf);
	leaf->last_posting = posting;
	return gpusort_page_append(&leaf->page, size);
}

/* Appends a tuple as it is. */
static inline void
gpusort_leaf_add(GpuSortLeafBuilder *leaf, IndexTuple tuple)
{
	Size		size = IndexTupleSize(tuple);
	char	   *to;

	if (unlikely(size > GPUSORT_PAGE_MAX_TUPLE))
		gpusort_leaf_refuse(leaf, tuple);
	Assert(size == MAXALIGN(size));
	to = gpusort_leaf_append(leaf, size, 0);

	/* Most keys are one word; don't call memcpy() for two. */
	if (likely(size == 16))
		memcpy(to, tuple, 16);
	else
		memcpy(to, tuple, size);
}

#endif							/* GPUSORT_BTREE_LEAF_H */
