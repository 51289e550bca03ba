/*
 * join_merged.h
 *		Ranges of rows of two sides that gpusortd has put in one order (sort/sort_merged.h).
 *
 * What is equal is known, so no row is looked at to find a range.  A piece is so many positions of
 * the order; its row numbers are divided by side, each side's in an array which is then the
 * order of its view: positions in ranges are those in it, as long as the range is the last one.
 */
#ifndef GPUSORT_JOIN_MERGED_H
#define GPUSORT_JOIN_MERGED_H

#include "engine/gs_merged.h"
#include "join/join_range.h"
#include "join/join_side.h"

/* Part of a group of equal rows that is divided among pieces. */
typedef struct GpuSortJoinDivided
{
	gs_equals	group;			/* zeros: none so far */
	uint64		counts[2];		/* rows of it, by side */
	uint32	   *inner;			/* those of the inner side: */
	uint64		ninner;			/* so many were found */
	size_t		room;
} GpuSortJoinDivided;

typedef struct GpuSortJoinMerged
{
	GpuSortJoinSide *sides;		/* two */
	bool		unmatched[2];	/* rows without a match are wanted, by side */
	bool		any_nulls;
	gs_merged	order;
	gs_cuts		cuts;
	MemoryContext context;

	/* the piece at hand: row numbers by side, and the ends of its groups */
	uint64		from;
	uint64		to;
	uint32	   *rows[2];
	gs_equals_end *ends;
	size_t		room;
	uint32		ngroups;
	uint32		next_group;
	gs_equals_end at;			/* where that begins */
	bool		begins_divided; /* its first group began in another piece; */
	bool		ends_divided;	/* ... its last one goes on in another */
	GpuSortJoinDivided divided;
} GpuSortJoinMerged;

/* Rows of both sides, which are merged. */
extern uint64 gpusort_join_merged_rows(const GpuSortJoinSide *sides);

/*
 * Begin, for the first or another time, in the current context; pieces have about so many rows.
 * whole: no group is divided.  Returns how many pieces there are.
 */
extern uint64 gpusort_begin_join_merged(GpuSortJoinMerged *merged, GpuSortJoinSide *sides,
										uint64 piece_rows, const bool unmatched[2], bool whole);

/* Have a piece at hand. */
extern void gpusort_begin_join_merged_piece(GpuSortJoinMerged *merged, uint64 piece);

/* The next range of it that is wanted; false if there are no more. */
extern bool gpusort_next_join_merged_range(GpuSortJoinMerged *merged, GpuSortJoinRange *range);

#endif							/* GPUSORT_JOIN_MERGED_H */
