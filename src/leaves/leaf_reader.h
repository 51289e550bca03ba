/*
 * leaf_reader.h
 *		Reading the leaf pages of a btree, in order, without its values becoming rows.
 *
 * What the server's index-only scans return a row at a time is had by the page: the words of the first
 * column's values, and for each item how many rows there are that the snapshot sees.  The values
 * themselves stay on a copy of the page, for those who want them.
 */
#ifndef GPUSORT_LEAF_READER_H
#define GPUSORT_LEAF_READER_H

#include "access/itup.h"
#include "access/tableam.h"
#include "utils/rel.h"

#include "sort/first_word.h"

/* A page's items that the snapshot sees, in order.  Items whose first column is null are left out. */
typedef struct GpuSortLeafPage
{
	char	   *page;			/* a copy */
	int			nitems;
	uint64		words[MaxIndexTuplesPerPage];
	OffsetNumber offsets[MaxIndexTuplesPerPage];
	uint16		nrows[MaxIndexTuplesPerPage];	/* that have this key: of an item that is a posting list,
												 * perhaps more than one; never 0 */
} GpuSortLeafPage;

typedef struct GpuSortLeafReader
{
	/* from the beginning on */
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	TupleTableSlot *table_slot;
	GpuSortFirstWord word;
	bool		nulls_first;
	bool		skips_killed;	/* items that are marked dead are so for the snapshot, too */
	GpuSortLeafPage *page;		/* at hand */
	GpuSortLeafPage *other;		/* the one that was at hand before */
	IndexFetchTableData *fetch;
	Buffer		map_buffer;		/* of the visibility map */
	MemoryContext scratch;
	void		(*filter) (void *arg, GpuSortLeafPage *page);	/* leaves out further items; or NULL */
	void	   *filter_arg;

	/* where it is */
	bool		descends;		/* the page to be read next is found from the root on */
	BlockNumber next;			/* else it is this block; P_NONE: there is none */
	uint64		from;			/* words below these are not wanted */
	uint64		to;				/* nor are those from here on ... */
	bool		has_end;		/* ... if this is set */
	uint64		last;			/* the greatest word read since: none that follows is less */

	/* what it has done since it has begun */
	uint64		nfetches;		/* rows that the table was asked for */
} GpuSortLeafReader;

/* The item at this place of a page. */
static inline IndexTuple
gpusort_leaf_item(const GpuSortLeafPage *page, int item)
{
	return (IndexTuple) PageGetItem(page->page, PageGetItemId(page->page, page->offsets[item]));
}

/* Begin to read an index, in the current context.  table_slot is one for rows of the table. */
extern void gpusort_begin_leaf_reader(GpuSortLeafReader *reader, Relation heap, Relation index,
									  Snapshot snapshot, TupleTableSlot *table_slot);
extern void gpusort_end_leaf_reader(GpuSortLeafReader *reader);

/*
 * Go to the words from `from` on, up to `to` (exclusive) unless has_end is false.  No page is at hand
 * then.
 */
extern void gpusort_seek_leaf(GpuSortLeafReader *reader, uint64 from, uint64 to, bool has_end);

/*
 * Have the next page at hand that has items, and the one that was in `other`, whose items stay valid
 * until the next call.  Words below `from` are not wanted any more: pages that have no others are
 * passed by.  False if there are no more pages; what was at hand then still is.
 */
extern bool gpusort_next_leaf(GpuSortLeafReader *reader, uint64 from);

/* A page without items, which may take the place of one that the caller keeps. */
#define GPUSORT_LEAF_BYTES	(sizeof(GpuSortLeafPage) + BLCKSZ)
extern GpuSortLeafPage *gpusort_make_leaf_page(void);

/*
 * Words that cut an index into at most so many pieces of about the same size, in order, all
 * different; how many there are.  By the upper levels of the tree.
 */
extern int	gpusort_cut_leaves(GpuSortLeafReader *reader, uint64 *words, int max_words);

#endif							/* GPUSORT_LEAF_READER_H */
