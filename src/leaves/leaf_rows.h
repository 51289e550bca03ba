/*
 * leaf_rows.h
 *		The rows of a join of two indexes that are read leaf page by leaf page.
 */
#ifndef GPUSORT_LEAF_ROWS_H
#define GPUSORT_LEAF_ROWS_H

#include "nodes/execnodes.h"

#include "leaves/leaf_reader.h"

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
	TupleTableSlot *bare_slot;	/* returned for every row if only the number of rows is wanted; else
								 * NULL */
	GpuSortLeafSide sides[2];
	ExprState  *filter;			/* further conditions of the join, on pairs; NULL: none */
	ExprState  *qual;			/* conditions on the rows of the result; NULL: none */
	GpuSortLeafGroup group;
	bool		in_group;		/* the current outer item has the group's word */
	uint64		outer_row;		/* number of the current row among the outer item's rows */
	uint64		nbare;			/* how often bare_slot is still to be returned */
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

/* Does the work of gpusort_next_leaf_row() where that takes more than to return bare_slot again. */
extern TupleTableSlot *gpusort_find_leaf_row(GpuSortLeafRows *rows);

/* Returns the next row of the interval; NULL if there are no more. */
static inline TupleTableSlot *
gpusort_next_leaf_row(GpuSortLeafRows *rows)
{
	if (rows->nbare == 0)
		return gpusort_find_leaf_row(rows);
	rows->nbare--;
	return rows->bare_slot;
}

/*
 * Releases pins, and forgets all memory, which the caller frees.  gpusort_begin_leaf_rows() may
 * follow.
 */
extern void gpusort_clear_leaf_rows(GpuSortLeafRows *rows);

#endif							/* GPUSORT_LEAF_ROWS_H */
