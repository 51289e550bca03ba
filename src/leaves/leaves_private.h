/*
 * leaves_private.h
 *		Reading the leaf pages of two btrees, and the rows of a join of both.
 */
#ifndef GPUSORT_LEAVES_PRIVATE_H
#define GPUSORT_LEAVES_PRIVATE_H

#include "access/itup.h"
#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "sort/sort.h"
#include "table/table_map.h"

/* ---------- a reader: the leaf pages of a btree in order, without forming rows ---------- */

/*
 * The server's index-only scans return a row at a time.  This reader returns a page at a time: the
 * words of the first column's values, and for each item the number of its rows that the snapshot
 * sees.  The values themselves stay on a copy of the page, for callers that need them.
 */

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
	GpuSortTableMap map;		/* which pages of the table are all-visible */
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

/* ---------- rows: of a join of two indexes that are read leaf page by leaf page ---------- */

/* The two sides; also indexes into arrays "by side". */
typedef enum GpuSortLeafEnd
{
	GPUSORT_LEAF_OUTER,
	GPUSORT_LEAF_INNER
} GpuSortLeafEnd;

/* One side of the join. */
typedef struct GpuSortLeafSide
{
	IndexOnlyScanState *scan;	/* the child, which is never executed; its rows are this side's */
	bool		wanted;			/* does any expression use a column of this side? */
	GpuSortLeafReader reader;
	int			at;				/* the current item of reader.page */
} GpuSortLeafSide;

/*
 * The group: all inner rows with the word of the current outer row.  If columns of them are wanted
 * and they lie on several pages, the pages before the last one are held here.  If that would take
 * too much memory, the group is long: all its pages are read again for each outer row.
 */
typedef struct GpuSortLeafGroup
{
	uint64		word;
	uint64		nrows;
	GpuSortLeafPage *last_page; /* the inner reader's current page, or the one before */
	int			first;			/* the group's first item, on its first page */
	int			last;			/* the item behind the group's last one, on its last page */
	GpuSortLeafPage **held;		/* pages before the last one, in order */
	int			nheld;
	int			nmade;			/* pages in held[]; the ones from nheld on are spare */
	bool		is_long;		/* the pages are too many to be held */
	GpuSortLeafReader *again;	/* reads the pages again; NULL: not needed so far */

	/* the current inner row, if columns are wanted */
	const GpuSortLeafPage *page;
	int			page_number;	/* index into held[]; nheld: the last page */
	int			item;
	int			end;			/* the item behind the group's last one on this page */
	uint64		row;			/* how many rows of the item have been returned; if no columns are
								 * wanted, how many rows of the group */
} GpuSortLeafGroup;

typedef struct GpuSortLeafRows
{
	PlanState  *ps;				/* the node, with expression context and projection */
	GpuSortLeafSide sides[2];
	ExprState  *filter;			/* further conditions of the join, on pairs; NULL: none */
	ExprState  *qual;			/* conditions on the rows of the result; NULL: none */
	GpuSortLeafGroup group;
	bool		in_group;		/* the current outer item has the group's word */
	uint64		outer_row;		/* number of the current row among the outer item's rows */
	MemoryContext context;

	/* for EXPLAIN and counts */
	uint64		nranges;		/* keys that both sides have */
	uint64		nmatches;		/* pairs with these keys */
	uint64		nread[2];		/* rows read, by side */
} GpuSortLeafRows;

/* Opens readers of both indexes, given `ps`, `sides[].scan` and what else was set by the node. */
extern void gpusort_begin_leaf_rows(GpuSortLeafRows *rows);

/* Goes to the keys whose words are at least `from` and, if has_end, below `to`. */
extern void gpusort_seek_leaf_rows(GpuSortLeafRows *rows, uint64 from, uint64 to, bool has_end);

/* Returns the next row of the interval; NULL if there are no more. */
extern TupleTableSlot *gpusort_next_leaf_row(GpuSortLeafRows *rows);

/*
 * Returns how many rows of the interval are left, in the place of these; there must be no filter
 * and no qual.
 */
extern uint64 gpusort_count_leaf_rows(GpuSortLeafRows *rows);

/*
 * Releases pins, and forgets all memory, which the caller frees.  gpusort_begin_leaf_rows() may
 * follow.
 */
extern void gpusort_clear_leaf_rows(GpuSortLeafRows *rows);

#endif							/* GPUSORT_LEAVES_PRIVATE_H */
