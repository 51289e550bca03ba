/*
 * leaf_rows.h
 *		The rows of a join of two indexes that are read leaf page by leaf page.
 */
#ifndef GPUSORT_LEAF_ROWS_H
#define GPUSORT_LEAF_ROWS_H

#include "nodes/execnodes.h"
#include "utils/tuplestore.h"

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

/* All inner rows with the word of the outer row at hand. */
typedef struct GpuSortLeafGroup
{
	uint64		word;
	uint64		nrows;
	bool		is_stored;		/* they are in the store; else on one page, if columns are wanted */
	GpuSortLeafPage *page;
	int			first;
	int			last;			/* behind it */
	Tuplestorestate *store;
	TupleTableSlot *store_slot;

	/* the next one to be returned with the outer row */
	int			item;
	uint64		row;			/* of the item's, or of all where no columns are wanted */
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
