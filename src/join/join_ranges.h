/*
 * join_ranges.h
 *		Ranges of rows of two sorted sides that have the same key.
 *
 * All that joins of any type need to know of keys.  Ranges come one after the other, within pieces
 * of the sides (join_cuts.h) that participants take from a counter which they share; or, where some
 * side has to be read through its child, all to one participant.
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
	pg_atomic_uint64 next_piece;	/* that nobody has taken */
	pg_atomic_uint32 streams;	/* participants that wanted to read through the children */
} GpuSortJoinCounter;

typedef struct GpuSortJoinRanges
{
	/* the caller's */
	GpuSortJoinSide *sides;		/* two, opened */
	GpuSortJoinKeys *keys;
	GpuSortJoinCounter *counter;
	bool		unmatched[2];	/* rows without a match are wanted, by side */
	bool		whole;			/* equal outer rows are to be in one piece */
	int			participants;

	/* the pieces: those of rows whose first key is null come first or last */
	GpuSortJoinOrder order;
	uint64		piece_rows;
	uint64		null_pieces[2]; /* by side */
	uint64		pieces;			/* of others */
	bool		nulls_first;
	uint64		next_cut_piece; /* whose cut is known: the last one's end */
	GpuSortJoinCut next_cut;

	/* the piece at hand */
	uint64		at[2];			/* rows that have not been looked at */
	uint64		end[2];
	bool		is_null_piece;
	uint64		tail_end;		/* of inner rows behind the piece, equal to its last outer rows;
								 * 0: there are none */
	uint64		tail_word;

	/* sides that are merged instead */
	bool		is_merged;
	GpuSortJoinMerged merged;

	/* reading through the children instead */
	bool		streams;
	bool		is_reader;		/* this participant does that */
	GpuSortJoinStream stream;
} GpuSortJoinRanges;

/* Before any participant has begun. */
extern void gpusort_init_join_counter(GpuSortJoinCounter *counter);

/* Begin anew, given the caller's fields; room for words is in the current context. */
extern void gpusort_begin_join_ranges(GpuSortJoinRanges *ranges);

/* The next range in order; false if there are no more for this participant. */
extern bool gpusort_next_join_range(GpuSortJoinRanges *ranges, GpuSortJoinRange *range);

#endif							/* GPUSORT_JOIN_RANGES_H */
