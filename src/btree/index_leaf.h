/*
 * index_leaf.h
 *		Leaf pages from a sorted stream of tuples.
 *
 * The builder knows nothing of block numbers, siblings, WAL or files: it fills
 * pages that its sink provides and hands each to the sink when it is complete
 * but for its links.  So it can be run over a part of the key space, by itself.
 *
 * How full pages get is the server's rule, so that an index is as large as one
 * it builds itself: a page ends before the first tuple that leaves less than the
 * fillfactor's free space behind, unless that would leave it without a tuple.
 * That tuple begins the next page, and what tells it from the one before becomes
 * the high key here and the downlink's key above (suffix truncation, done by the
 * server's _bt_truncate()).  A posting list does not count against the free
 * space when its tuple is the last, since a high key never holds it.
 */
#ifndef GPUSORT_INDEX_LEAF_H
#define GPUSORT_INDEX_LEAF_H

#include "postgres.h"

#include "access/nbtree.h"
#include "utils/rel.h"

#include "btree/index_page.h"

/* Where the pages come from and go to. */
typedef struct IndexLeafSink
{
	void	   *arg;

	/* An empty page buffer. */
	char	   *(*get_page) (void *arg);

	/*
	 * A page without links.  `low_key` is the key of its downlink (a pivot
	 * tuple, without a key for the leftmost page) and valid for the call only.
	 * `last` says that no other page follows before the builder's end.
	 */
	void		(*put_page) (void *arg, char *page, IndexTuple low_key, bool last);
} IndexLeafSink;

typedef struct IndexLeafBuilder
{
	Relation	heap;
	Relation	index;
	BTScanInsert scan_key;		/* how to compare, for truncation */
	MemoryContext truncate_context; /* reset for each page */
	IndexLeafSink sink;
	int			min_space;		/* fillfactor: bytes a page keeps free */

	IndexPage	page;			/* data NULL: no page begun */
	int			last_posting;	/* bytes of the last tuple's posting list */
	char	   *low_key;		/* of the page; MAXALIGN'd */
} IndexLeafBuilder;

/* Memory comes from the current context. */
extern void index_leaf_begin(IndexLeafBuilder *leaf, Relation heap, Relation index,
							 BTScanInsert scan_key, const IndexLeafSink *sink);

/* Hand over the last page of the index, if there is any. */
extern void index_leaf_finish(IndexLeafBuilder *leaf);

/*
 * Hand over the last page of a slice, which ends before the tuple `next` of another
 * slice, and begin anew.  The low keys of a slice's pages are not to be relied on:
 * that of its first page is the high key of the page before, which has another
 * builder.
 */
extern void index_leaf_end_slice(IndexLeafBuilder *leaf, IndexTuple next);

/*
 * Tuples of such a size on each page but the last one, which may have one more; that
 * is, if they have no posting lists.
 */
extern int	index_leaf_tuples_per_page(const IndexLeafBuilder *leaf, Size size);

/* For the inline part below only. */
extern void index_leaf_turn_page(IndexLeafBuilder *leaf);
extern void index_leaf_refuse(IndexLeafBuilder *leaf, IndexTuple tuple);

/*
 * Does the page end before a tuple of `size` bytes?
 */
static inline bool
index_leaf_is_full(const IndexLeafBuilder *leaf, Size size)
{
	int			space = index_page_space(&leaf->page);

	/* The high key may turn out longer than the last tuple, by a heap TID. */
	if (unlikely(space < (int) (size + MAXALIGN(sizeof(ItemPointerData)))))
		return true;
	return unlikely(space + leaf->last_posting < leaf->min_space && leaf->page.nitems > 1);
}

/*
 * Room for the next tuple, of `size` bytes (MAXALIGN'd, at most
 * INDEX_PAGE_MAX_TUPLE), `posting` of which are its posting list.
 */
static inline char *
index_leaf_append(IndexLeafBuilder *leaf, Size size, int posting)
{
	if (index_leaf_is_full(leaf, size))
		index_leaf_turn_page(leaf);
	leaf->last_posting = posting;
	return index_page_append(&leaf->page, size);
}

/* Append a tuple as it is. */
static inline void
index_leaf_add(IndexLeafBuilder *leaf, IndexTuple tuple)
{
	Size		size = IndexTupleSize(tuple);
	char	   *to;

	if (unlikely(size > INDEX_PAGE_MAX_TUPLE))
		index_leaf_refuse(leaf, tuple);
	Assert(size == MAXALIGN(size));
	to = index_leaf_append(leaf, size, 0);

	/* Most keys are one word; don't call memcpy() for two. */
	if (likely(size == 16))
		memcpy(to, tuple, 16);
	else
		memcpy(to, tuple, size);
}

#endif							/* GPUSORT_INDEX_LEAF_H */
