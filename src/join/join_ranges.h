/*
 * join_ranges.h
 *		Ranges of rows of two sorted sides that have the same key.
 *
 * Ranges (join_range.h) are all that a join of any type needs to know of keys.  Participants take
 * pieces of the sides (join_cuts.h) from a counter that they share, and get a piece's ranges one
 * after the other.  If a side has to be read through its child, one participant gets all ranges.
 */
#ifndef GPUSORT_JOIN_RANGES_H
#define GPUSORT_JOIN_RANGES_H

#include "port/atomics.h"

#include "join/join_keys.h"
#include "join/join_merged.h"
#include "join/join_range.h"
#include "join/join_stream.h"

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

#endif							/* GPUSORT_JOIN_RANGES_H */
