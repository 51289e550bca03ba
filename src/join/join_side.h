/*
 * join_side.h
 *		One side of a join: a sort's rows, by position or one after the other.
 *
 * Normally the whole result lies in memory and is read through a view.  Where it does not (it has
 * spilled, or was handed over to tuplesort), rows come through the child, forward, and from a mark
 * again.
 */
#ifndef GPUSORT_JOIN_SIDE_H
#define GPUSORT_JOIN_SIDE_H

#include "access/htup_details.h"
#include "nodes/execnodes.h"

#include "exec/exec_cursor.h"
#include "sort/first_word.h"
#include "sort/sort_view.h"

/* Where the first sort column lies, if all columns before it have fixed lengths. */
typedef struct GpuSortJoinColumn
{
	int			offset;			/* in tuples without nulls; -1: that varies */
	int16		length;
	bool		by_value;
} GpuSortJoinColumn;

typedef struct GpuSortJoinSide
{
	/* from the beginning on */
	PlanState  *child;			/* GpuSort or GpuSort Shared */
	bool		is_shared;
	GpuSortSpec spec;
	TupleTableSlot *own_slot;
	TupleTableSlot *null_slot;
	bool		wanted;			/* columns are returned or filtered by */
	GpuSortFirstWord word;
	GpuSortJoinColumn column;
	MemoryContext scratch;		/* values that were detoasted for them */

	/* the result */
	bool		is_view;
	GpuSortView view;
	uint64		nrows;			/* of the view; of the piece at hand, if the sides are merged
								 * (join_merged.c), and so are positions and the view's order */
	uint64		from;			/* positions whose first sort column is not null: */
	uint64		to;				/* from .. to - 1 */

	/* first words of keys at some positions of the view */
	uint64	   *words;
	uint64		words_from;
	uint64		words_loaded;
	uint64		words_room;

	/* reading it through the child */
	uint64		next;			/* position of the row that comes next */
	uint64		marked;			/* one that can be gone back to */
	TupleTableSlot *streamed;	/* the row at next - 1; empty: there are no more */

	TupleTableSlot *slot;		/* the row at hand, see gpusort_join_load() */
} GpuSortJoinSide;

/* Begin with a child that was initialised; is_shared: a GpuSort Shared. */
extern void gpusort_begin_join_side(GpuSortJoinSide *side, PlanState *child, EState *estate);

/* The child has sorted, or will now if it is a GpuSort: find its result, and go to the beginning. */
extern void gpusort_open_join_side(GpuSortJoinSide *side);

/* Don't refer to any row. */
extern void gpusort_clear_join_side(GpuSortJoinSide *side);

/* ---------- by position ---------- */

static inline MinimalTuple
gpusort_join_tuple(const GpuSortJoinSide *side, uint64 position)
{
	return (MinimalTuple) gpusort_view_row(&side->view, position);
}

/* The first word of the key of a tuple, whose first sort column is not null. */
extern uint64 gpusort_join_word(GpuSortJoinSide *side, MinimalTuple tuple);

/* Have the words of rows at from .. to - 1 in words[position - words_from]. */
extern void gpusort_join_load_words(GpuSortJoinSide *side, uint64 from, uint64 to);

/* ---------- through the child ---------- */

/* Go to the row at a position, which is not before the mark; false if there is none. */
extern bool gpusort_join_seek(GpuSortJoinSide *side, uint64 position);

/* The same, and let it be the mark. */
extern bool gpusort_join_seek_and_mark(GpuSortJoinSide *side, uint64 position);

/* ---------- either ---------- */

/* Have the row at a position in side->slot. */
static inline void
gpusort_join_load(GpuSortJoinSide *side, uint64 position)
{
	if (likely(side->is_view))
		gpusort_store_tuple(side->own_slot, gpusort_join_tuple(side, position));
	else
		(void) gpusort_join_seek(side, position);
}

#endif							/* GPUSORT_JOIN_SIDE_H */
