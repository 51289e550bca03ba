/*
 * join_private.h
 *		Two sorted sides, the ranges of their rows that have the same key, and the rows of a join.
 */
#ifndef GPUSORT_JOIN_PRIVATE_H
#define GPUSORT_JOIN_PRIVATE_H

#include "access/htup_details.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/sortsupport.h"

#include "engine/gs_merged.h"
#include "join/join_cuts.h"
#include "sort/sort.h"
#include "sort/sort_cursor.h"
#include "sort/sort_view.h"

/* ---------- one side: the rows of a sort, by position or one after the other ---------- */

/*
 * Normally the sort's whole result lies in memory and is read through a view, by position.  If the
 * sort has spilled or was handed over to tuplesort, rows are read through the child: forward, and
 * again from a mark.
 */

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
	uint64		ahead_to;		/* rows before this position are prefetched (join_rows.c) */
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

/* ---------- one side, by position ---------- */

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

/* ---------- one side, through the child ---------- */

/* Goes to the row at a position, which must not be before the mark; false if there is none. */
extern bool gpusort_join_seek(GpuSortJoinSide *side, uint64 position);

/* Goes to the row at a position in the same way, and sets the mark there. */
extern bool gpusort_join_seek_and_mark(GpuSortJoinSide *side, uint64 position);

/* ---------- one side, in either way ---------- */

/* Puts the row at a position into side->slot. */
static inline void
gpusort_join_load(GpuSortJoinSide *side, uint64 position)
{
	if (likely(side->is_view))
		gpusort_store_tuple(side->own_slot, gpusort_join_tuple(side, position));
	else
		(void) gpusort_join_seek(side, position);
}

/* ---------- keys: comparing rows of two sides by the columns that both are sorted by ---------- */

/*
 * Rows that are given by position are compared by the first words of their keys (sort/sort.h)
 * where these decide, and otherwise by the operator family's comparisons, across types if need be.
 * Nulls are equal to each other here, as they are in sorts.
 */

typedef struct GpuSortJoinKeys
{
	GpuSortJoinSide *sides;		/* two */
	int			nkeys;
	SortSupport compare[2][2];	/* comparisons of the columns, for rows of two given sides,
								 * which may be the same */
	bool		use_words;		/* are first words of both sides comparable? */
	bool		words_suffice;	/* do equal first words mean equal keys? */
	bool		doubtful;		/* the sides have different types, and words do not decide: the
								 * comparison across types may disagree with a side's order */
	TupleTableSlot *slots[2];	/* for a row being compared, by side */
	TupleTableSlot *other_slots[2]; /* for the second of two rows of the same side */
	MemoryContext scratch;		/* for what comparisons allocate */
} GpuSortJoinKeys;

/* Prepares *keys for comparing rows of two sides, in the current context. */
extern void gpusort_begin_join_keys(GpuSortJoinKeys *keys, GpuSortJoinSide *sides, EState *estate);

/* Clears all slots, so that they refer to no row any more. */
extern void gpusort_clear_join_keys(GpuSortJoinKeys *keys);

/*
 * Compares row i of side a with row j of side b, both of views, first by their words.  This is a
 * GpuSortJoinOrder's compare(); arg is a GpuSortJoinKeys.
 */
extern int	gpusort_compare_join_positions(void *arg, GpuSortJoinEnd a, uint64_t i,
										   GpuSortJoinEnd b, uint64_t j);

/* Compares two rows of views whose first words are the same, or are not used. */
extern int	gpusort_compare_join_ties(GpuSortJoinKeys *keys, GpuSortJoinEnd a, uint64 i,
									  GpuSortJoinEnd b, uint64 j);

/*
 * Raises the error that PostgreSQL's merge joins raise if the comparison across two types disagrees
 * with the comparisons of either type, by which the sides were sorted.
 */
extern void gpusort_join_is_out_of_order(void);

/* Compares the rows that are in sides[].slot. */
extern int	gpusort_compare_join_rows(GpuSortJoinKeys *keys);

/* Returns whether the row in side->slot has a null in a column that the side is sorted by. */
extern bool gpusort_join_row_has_null(const GpuSortJoinSide *side);

/* ---------- a range: rows of both sides with one key, or of one without a match ---------- */

/*
 * A range has the rows of two sorted sides that have one key, or rows of one side that match no row
 * of the other.
 */

typedef struct GpuSortJoinRange
{
	uint64		from[2];		/* positions of the first rows, by side */
	uint64		to[2];			/* positions behind the last rows; the same as from if the range has
								 * no rows of that side */
	bool		matches;		/* as far as keys go, true: each outer row matches each inner row;
								 * false: none does */
	bool		owns_inner;		/* false if another range has the same inner rows, and returns those
								 * that have no partner */
} GpuSortJoinRange;

/* ---------- ranges of sides that gpusortd has put in one order (sort/sort.h) ---------- */

/*
 * gpusortd says which neighbours in the order are equal, so no row is looked at to find a range.  A
 * group is a stretch of equal rows of both sides.  A piece is a stretch of the order.  Its row
 * numbers are divided by side into two arrays, and each array becomes the order of its side's view.
 * Positions in a range are positions in these arrays, and are valid until the next range is asked
 * for.
 */

/* A group that is longer than a piece, and therefore divided among pieces. */
typedef struct GpuSortJoinDivided
{
	gs_equals	group;			/* zeros: none so far */
	uint64		counts[2];		/* the group's rows, by side */
	uint32	   *inner;			/* numbers of its inner rows */
	uint64		ninner;			/* how many are in inner[]; 0: not looked up yet */
	size_t		room;			/* allocated elements of inner[] */
} GpuSortJoinDivided;

typedef struct GpuSortJoinMerged
{
	GpuSortJoinSide *sides;		/* two */
	bool		unmatched[2];	/* are rows without a match wanted? by side */
	bool		any_nulls;		/* may keys have nulls? */
	gs_merged	order;			/* both sides' rows in one order */
	gs_cuts		cuts;			/* where order is cut into pieces */
	MemoryContext context;

	/* the piece that is being joined */
	uint64		from;			/* its positions in order: from .. to - 1 */
	uint64		to;
	uint32	   *rows[2];		/* its row numbers, by side */
	gs_equals_end *ends;		/* the ends of its groups */
	size_t		room;			/* allocated elements of rows[] and ends */
	uint32		ngroups;
	uint32		next_group;		/* the first group that has not been returned */
	gs_equals_end at;			/* where next_group begins */
	bool		begins_divided; /* the first group began in another piece */
	bool		ends_divided;	/* the last group goes on in another piece */
	GpuSortJoinDivided divided;
} GpuSortJoinMerged;

/* Returns how many rows two merged sides have together. */
extern uint64 gpusort_join_merged_rows(const GpuSortJoinSide *sides);

/*
 * Begins, for the first or another time, in the current context.  Pieces have about piece_rows
 * rows.  If `whole`, no group is divided.  Returns how many pieces there are.
 */
extern uint64 gpusort_begin_join_merged(GpuSortJoinMerged *merged, GpuSortJoinSide *sides,
										uint64 piece_rows, const bool unmatched[2], bool whole);

/* Goes to the beginning of a piece. */
extern void gpusort_begin_join_merged_piece(GpuSortJoinMerged *merged, uint64 piece);

/* Returns the piece's next range that is wanted; false if there are no more. */
extern bool gpusort_next_join_merged_range(GpuSortJoinMerged *merged, GpuSortJoinRange *range);

/* ---------- ranges of sides that are read through their children ---------- */

/*
 * Rows are read forward, and again from marks.
 *
 * Both sides have their mark at the beginning of the range, so its rows can be read forward from
 * there any number of times.
 */

typedef struct GpuSortJoinStream
{
	GpuSortJoinSide *sides;		/* two */
	GpuSortJoinKeys *keys;
	uint64		at[2];			/* positions of the next rows to be looked at, by side */
} GpuSortJoinStream;

/* ---------- ranges of rows of two sorted sides that have the same key ---------- */

/*
 * Ranges are all that a join of any type needs to know of keys.  Participants take
 * pieces of the sides (join_cuts.h) from a counter that they share, and get a piece's ranges one
 * after the other.  If a side has to be read through its child, one participant gets all ranges.
 */

/* What participants share. */
typedef struct GpuSortJoinCounter
{
	pg_atomic_uint64 next_piece;	/* number of the first piece that nobody has taken */
	pg_atomic_uint32 streams;	/* how many participants have offered to read through the
								 * children; the first one does */
} GpuSortJoinCounter;

typedef struct GpuSortJoinRanges
{
	/* set by the caller */
	GpuSortJoinSide *sides;		/* two, opened */
	GpuSortJoinKeys *keys;
	GpuSortJoinCounter *counter;
	bool		unmatched[2];	/* are rows without a match wanted? by side */
	bool		whole;			/* equal outer rows must not be cut apart */
	int			participants;

	/*
	 * The pieces.  Rows whose first key is null are pieces of their own, which are numbered before
	 * or behind the others.
	 */
	GpuSortJoinOrder order;		/* the rows whose first key is not null */
	uint64		piece_rows;
	uint64		null_pieces[2]; /* number of pieces of nulls, by side */
	uint64		pieces;			/* number of other pieces */
	bool		nulls_first;
	uint64		next_cut_piece; /* next_cut is the cut before this piece */
	GpuSortJoinCut next_cut;

	/* the piece that is being joined */
	uint64		at[2];			/* first rows that have not been looked at, by side */
	uint64		end[2];			/* positions behind the piece's last rows, by side */
	bool		is_null_piece;
	uint64		tail_end;		/* end of the inner rows that begin at end[] and are equal to the
								 * piece's last outer rows; 0: there are none */
	uint64		tail_word;		/* the first word of these rows */

	/* for sides that gpusortd has merged */
	bool		is_merged;
	GpuSortJoinMerged merged;

	/* for sides of which one has to be read through its child */
	bool		streams;
	bool		is_reader;		/* this participant reads them */
	GpuSortJoinStream stream;
} GpuSortJoinRanges;

/* Initializes the counter, before any participant has begun. */
extern void gpusort_init_join_counter(GpuSortJoinCounter *counter);

/* Begins anew, given the caller's fields; allocates room for words in the current context. */
extern void gpusort_begin_join_ranges(GpuSortJoinRanges *ranges);

/* Returns the next range in order; false if there are no more for this participant. */
extern bool gpusort_next_join_range(GpuSortJoinRanges *ranges, GpuSortJoinRange *range);

/* ---------- rows: what the type of a join makes of ranges of rows with the same key ---------- */

/* Where in a range the next row comes from. */
typedef enum GpuSortJoinPhase
{
	GPUSORT_JOIN_NEXT_RANGE,	/* from the next range */
	GPUSORT_JOIN_PAIRS,			/* an outer row and an inner row */
	GPUSORT_JOIN_OUTER_ALONE,	/* the outer row, which has turned out to have no partner */
	GPUSORT_JOIN_NEXT_OUTER,	/* from the next outer row */
	GPUSORT_JOIN_UNMATCHED_OUTER,	/* the outer rows of a range that does not match */
	GPUSORT_JOIN_UNMATCHED_INNER	/* the inner rows that have no partner */
} GpuSortJoinPhase;

typedef struct GpuSortJoinRows
{
	/* how rows are made; set once */
	JoinType	type;
	bool		pairs;			/* are pairs returned? */
	bool		alone[2];		/* are rows without a partner returned? by side */
	bool		first_only;		/* an outer row has at most one partner, or one is enough */
	ExprState  *filter;			/* further conditions of the join, on pairs; NULL: none */
	ExprState  *qual;			/* conditions on the rows of the result; NULL: none */
	PlanState  *ps;				/* the node, with expression context and projection */
	GpuSortJoinSide *sides;		/* two */
	GpuSortJoinRanges ranges;

	/* where the next row comes from */
	GpuSortJoinPhase phase;
	GpuSortJoinRange range;
	uint64		at[2];			/* positions in the range, by side */
	bool		outer_has_partner;	/* has the outer row had a partner? */

	/* which inner rows of the range have had a partner, if that must be known (track_inner) */
	bool		track_inner;
	uint64	   *partnered;		/* a bit for each inner row */
	size_t		partnered_words;	/* allocated words of partnered */
	MemoryContext context;

	/* for EXPLAIN */
	uint64		nranges;		/* ranges that have rows of both sides */
	uint64		nmatches;		/* pairs in these ranges */
} GpuSortJoinRows;

/*
 * Sets how the rows of a join of this type are made, and the fields of rows->ranges that depend on
 * it.  inner_unique: an outer row has at most one partner.
 */
extern void gpusort_begin_join_rows(GpuSortJoinRows *rows, JoinType type, bool inner_unique);

/* Starts again from rows->ranges, which have begun. */
extern void gpusort_restart_join_rows(GpuSortJoinRows *rows);

/* Returns the next row; NULL if there are no more. */
extern TupleTableSlot *gpusort_next_join_row(GpuSortJoinRows *rows);

/* Returns how many rows are left, in the place of these; there must be no filter and no qual. */
extern uint64 gpusort_count_join_rows(GpuSortJoinRows *rows);

#endif							/* GPUSORT_JOIN_PRIVATE_H */
