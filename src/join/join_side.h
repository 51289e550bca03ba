/*
 * join_side.h
 *		One side of a join: a sort's rows, by position or one after the other.
 *
 * Normally the sort's whole result lies in memory and is read through a view, by position.  If the
 * sort has spilled or was handed over to tuplesort, rows are read through the child: forward, and
 * again from a mark.
 */
#ifndef GPUSORT_JOIN_SIDE_H
#define GPUSORT_JOIN_SIDE_H

#include "access/htup_details.h"
#include "nodes/execnodes.h"

#include "exec/exec_cursor.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* Where the first sort column lies in a tuple. */
typedef struct GpuSortJoinColumn
{
	int			offset;			/* in tuples without nulls; -1: not the same in all tuples */
	int16		length;
	bool		by_value;
} GpuSortJoinColumn;

typedef struct GpuSortJoinSide
{
	/* set once */
	PlanState  *child;			/* GpuSort or GpuSort Shared */
	bool		is_shared;		/* the child is a GpuSort Shared */
	GpuSortSpec spec;
	TupleTableSlot *own_slot;	/* for rows of the view */
	TupleTableSlot *null_slot;	/* a row of nulls, for rows that have no partner on this side */
	bool		wanted;			/* does any expression use a column of this side? */
	GpuSortFirstWord word;		/* how first words are made */
	GpuSortJoinColumn column;
	MemoryContext scratch;		/* for values that are detoasted to make words of them */

	/* the child's result */
	bool		is_view;		/* read through the view, else through the child */
	GpuSortView view;
	uint64		nrows;			/* rows of the view; if the sides are merged (join_merged.c), rows
								 * of the current piece, to which positions and view.order refer,
								 * too */
	uint64		from;			/* the first sort column is not null at positions */
	uint64		to;				/* from .. to - 1 */

	/* first words of the rows at positions words_from .. words_from + words_loaded - 1 */
	uint64	   *words;
	uint64		words_from;
	uint64		words_loaded;
	uint64		words_room;

	/* for reading through the child */
	uint64		next;			/* position of the row that ExecProcNode() returns next */
	uint64		marked;			/* position of the mark, to which we can go back */
	TupleTableSlot *streamed;	/* the row at next - 1; NULL: there are no more */

	TupleTableSlot *slot;		/* the current row, see gpusort_join_load() */
} GpuSortJoinSide;

/* Begins with a child that was initialized, a GpuSort or a GpuSort Shared. */
extern void gpusort_begin_join_side(GpuSortJoinSide *side, PlanState *child, EState *estate);

/*
 * Finds the result of the child, and goes to its beginning.  A GpuSort Shared must have sorted; a
 * GpuSort sorts now, if it has not.
 */
extern void gpusort_open_join_side(GpuSortJoinSide *side);

/* Clears own_slot, so that it refers to no row any more. */
extern void gpusort_clear_join_side(GpuSortJoinSide *side);

/* ---------- by position ---------- */

/* Returns the row of the view at a position. */
static inline MinimalTuple
gpusort_join_tuple(const GpuSortJoinSide *side, uint64 position)
{
	return (MinimalTuple) gpusort_view_row(&side->view, position);
}

/* Returns the first word of the key of a tuple whose first sort column is not null. */
extern uint64 gpusort_join_word(GpuSortJoinSide *side, MinimalTuple tuple);

/* Loads the words of the rows at from .. to - 1 into words[position - words_from]. */
extern void gpusort_join_load_words(GpuSortJoinSide *side, uint64 from, uint64 to);

/* ---------- through the child ---------- */

/* Goes to the row at a position, which must not be before the mark; false if there is none. */
extern bool gpusort_join_seek(GpuSortJoinSide *side, uint64 position);

/* Goes to the row at a position in the same way, and sets the mark there. */
extern bool gpusort_join_seek_and_mark(GpuSortJoinSide *side, uint64 position);

/* ---------- in either way ---------- */

/* Puts the row at a position into side->slot. */
static inline void
gpusort_join_load(GpuSortJoinSide *side, uint64 position)
{
	if (likely(side->is_view))
		gpusort_store_tuple(side->own_slot, gpusort_join_tuple(side, position));
	else
		(void) gpusort_join_seek(side, position);
}

#endif							/* GPUSORT_JOIN_SIDE_H */
