/*
 * leaf_rows.h
 *		The rows of a join of two indexes that are read leaf page by leaf page.
 */
#ifndef GPUSORT_LEAF_ROWS_H
#define GPUSORT_LEAF_ROWS_H

#include "nodes/execnodes.h"

#include "leaves/leaf_reader.h"

typedef enum GpuSortLeafEnd
{
	GPUSORT_LEAF_OUTER,
	GPUSORT_LEAF_INNER
} GpuSortLeafEnd;

/* One side: its pages, and its columns where some are wanted. */
typedef struct GpuSortLeafSide
{
	IndexOnlyScanState *scan;	/* whose rows it returns, without being executed */
	bool		wanted;			/* some of its columns are */
	GpuSortLeafReader reader;
	int			at;				/* item of the page at hand */
} GpuSortLeafSide;

/*
 * All inner rows with the word of the outer row at hand.  If columns of them are wanted and they lie on
 * several pages, those before the last one are held here; or, if that takes too much memory, all are
 * read again for each outer row.
 */
typedef struct GpuSortLeafGroup
{
	uint64		word;
	uint64		nrows;
	GpuSortLeafPage *last_page; /* at hand on the inner side, or the one before */
	int			first;			/* item, of the first page */
	int			last;			/* behind the last one, of the last page */
	GpuSortLeafPage **held;		/* pages before the last one, in order */
	int			nheld;
	int			nmade;			/* entries of `held`: those behind nheld are spare */
	bool		is_long;		/* the pages are too many to be held */
	GpuSortLeafReader *again;	/* reads them again; NULL: none has been needed yet */

	/* the row at hand, if columns are wanted */
	const GpuSortLeafPage *page;
	int			page_number;
	int			item;
	int			end;			/* behind the last one, of this page */
	uint64		row;			/* the next one to be returned, of the item's; or of the group's, if no
								 * columns are wanted */
} GpuSortLeafGroup;

typedef struct GpuSortLeafRows
{
	PlanState  *ps;				/* with expression context and projection */
	TupleTableSlot *bare_slot;	/* where only their number is wanted, all rows are this one; else NULL */
	GpuSortLeafSide sides[2];
	ExprState  *filter;			/* of pairs, beside the keys; NULL: none */
	ExprState  *qual;			/* of what is returned; NULL: none */
	GpuSortLeafGroup group;
	bool		in_group;		/* the outer item at hand has the group's word */
	uint64		outer_row;		/* of the outer item's */
	uint64		nbare;			/* rows that are still to be returned, if they are bare */
	MemoryContext context;

	/* for EXPLAIN and counts */
	uint64		nranges;		/* groups that match */
	uint64		nmatches;		/* pairs in them */
	uint64		nread[2];		/* rows read */
} GpuSortLeafRows;

extern void gpusort_begin_leaf_rows(GpuSortLeafRows *rows);

/* Go to the keys whose words are in this interval. */
extern void gpusort_seek_leaf_rows(GpuSortLeafRows *rows, uint64 from, uint64 to, bool has_end);

/* The next row of the interval; NULL if there are no more. */
extern TupleTableSlot *gpusort_find_leaf_row(GpuSortLeafRows *rows);

static inline TupleTableSlot *
gpusort_next_leaf_row(GpuSortLeafRows *rows)
{
	if (rows->nbare == 0)
		return gpusort_find_leaf_row(rows);
	rows->nbare--;
	return rows->bare_slot;
}

/* Let go of pages and memory, now or before another begin. */
extern void gpusort_clear_leaf_rows(GpuSortLeafRows *rows);

#endif							/* GPUSORT_LEAF_ROWS_H */
