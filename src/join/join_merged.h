/*
 * join_merged.h
 *		Ranges of rows of two sides that gpusortd has put in one order (sort/sort.h).
 *
 * gpusortd says which neighbours in the order are equal, so no row is looked at to find a range.  A
 * group is a stretch of equal rows of both sides.  A piece is a stretch of the order.  Its row
 * numbers are divided by side into two arrays, and each array becomes the order of its side's view.
 * Positions in a range are positions in these arrays, and are valid until the next range is asked
 * for.
 */
#ifndef GPUSORT_JOIN_MERGED_H
#define GPUSORT_JOIN_MERGED_H

#include "engine/gs_merged.h"
#include "join/join_range.h"
#include "join/join_side.h"

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

#endif							/* GPUSORT_JOIN_MERGED_H */
