/*
 * leaf_reader.h
 *		Reading the leaf pages of a btree in order, without forming rows.
 *
 * The server's index-only scans return a row at a time.  This reader returns a page at a time: the
 * words of the first column's values, and for each item the number of its rows that the snapshot
 * sees.  The values themselves stay on a copy of the page, for callers that need them.
 */
#ifndef GPUSORT_LEAF_READER_H
#define GPUSORT_LEAF_READER_H

#include "access/itup.h"
#include "access/tableam.h"
#include "utils/rel.h"

#include "sort/sort.h"

/*
 * A page's items that the snapshot sees, in order.  Items whose first column is null are left out.
 */
typedef struct GpuSortLeafPage
{
	char	   *page;			/* a copy of the index page */
	int			nitems;
	uint64		words[MaxIndexTuplesPerPage];	/* words of the items' first column */
	OffsetNumber offsets[MaxIndexTuplesPerPage];	/* where the items are on the page */

	/* how many rows of each item the snapshot sees: 1, or more for a posting list */
	uint16		nrows[MaxIndexTuplesPerPage];
} GpuSortLeafPage;

typedef struct GpuSortLeafReader
{
	/* set when the reader begins */
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	TupleTableSlot *table_slot;
	GpuSortFirstWord word;		/* how words are made */
	bool		nulls_first;
	bool		skips_killed;	/* items that are marked dead are dead to the snapshot, too */
	GpuSortLeafPage *page;		/* the current page */
	GpuSortLeafPage *other;		/* the page that was current before */
	IndexFetchTableData *fetch;
	Buffer		map_buffer;		/* pinned page of the visibility map */
	MemoryContext scratch;		/* for values that words are made of */
	void		(*filter) (void *arg, GpuSortLeafPage *page);	/* removes items; or NULL */
	void	   *filter_arg;

	/* the position */
	bool		descends;		/* the next page is to be found from the root on */
	BlockNumber next;			/* if not, it is this block; P_NONE: there is none */
	uint64		from;			/* words below this are not wanted */
	uint64		to;				/* if has_end, words from this on are not wanted */
	bool		has_end;
	uint64		last;			/* the greatest word read since gpusort_seek_leaf() */

	/* for EXPLAIN */
	uint64		nfetches;		/* how often a row was looked up in the table */
} GpuSortLeafReader;

/* Returns an item of a page, by its number. */
static inline IndexTuple
gpusort_leaf_item(const GpuSortLeafPage *page, int item)
{
	return (IndexTuple) PageGetItem(page->page, PageGetItemId(page->page, page->offsets[item]));
}

/*
 * Begins to read an index, in the current context.  table_slot is a slot for rows of the table,
 * whose visibility is looked up.
 */
extern void gpusort_begin_leaf_reader(GpuSortLeafReader *reader, Relation heap, Relation index,
									  Snapshot snapshot, TupleTableSlot *table_slot);

/* Releases the reader's pins; its memory goes with the context. */
extern void gpusort_end_leaf_reader(GpuSortLeafReader *reader);

/*
 * Goes to the words from `from` on and, if has_end, below `to`.  There is no current page until
 * gpusort_next_leaf() is called.
 */
extern void gpusort_seek_leaf(GpuSortLeafReader *reader, uint64 from, uint64 to, bool has_end);

/*
 * Makes the next page that has items the current one.  The page that was current becomes `other`,
 * and its items stay valid until the next call.  Words below `from` are not wanted any more; pages
 * with nothing else are passed by.  Returns false, and changes neither page, if there are no more
 * pages.
 */
extern bool gpusort_next_leaf(GpuSortLeafReader *reader, uint64 from);

/*
 * Returns a new page without items.  A caller may keep reader->other for itself if it puts such a
 * page there instead.
 */
#define GPUSORT_LEAF_BYTES	(sizeof(GpuSortLeafPage) + BLCKSZ)
extern GpuSortLeafPage *gpusort_make_leaf_page(void);

/*
 * Fills words[], in ascending order and without duplicates, with at most max_words words that cut
 * the index into stretches of about the same size, and returns their number.  They are taken from
 * the upper levels of the tree.
 */
extern int	gpusort_cut_leaves(GpuSortLeafReader *reader, uint64 *words, int max_words);

#endif							/* GPUSORT_LEAF_READER_H */
