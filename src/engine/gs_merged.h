/*
 * gs_merged.h
 *		Two sides that are sorted as one, and what of their order is equal.
 *
 * A sort-merge join sorts both of its sides and merges them.  Sorted by one job, the sides come out
 * merged: the rows of both are in one order, and the bitmap of equal neighbours says which of them
 * have the same key.  That bitmap, a bit a row, is all that there is to know about matches.
 *
 * For that the rows of both sides are numbered together.  Planes must not be copied, and a job
 * names them by whole segments; so the rows of either side that fill whole segments come first, and
 * the rest of both sides comes after them: fewer than two segments, which are copied.  Rows of a
 * side keep their order among each other.
 *
 * The order is cut into pieces of equal length, whatever the skew: what a merge path would find for
 * two sorted arrays lies here at the multiples of a number.  A cut moves to the end of the group of
 * equal rows that it falls into, unless the group is longer than a piece.  Then the group is
 * divided, and the process that has some of its rows of one side has to find those of the other
 * side by itself.
 *
 * Nothing here allocates memory or uses global variables.  Positions count from the beginning of
 * the merged order.
 */
#ifndef GS_MERGED_H
#define GS_MERGED_H

#include <stdbool.h>
#include <stdint.h>

/* How the rows of two sides are numbered: in the order full[0], full[1], rest[0], rest[1]. */
typedef struct gs_sides
{
	uint64_t	full[2];		/* rows that fill whole segments, by side */
	uint64_t	rest[2];		/* the other rows, by side */
} gs_sides;

/*
 * Numbers two sides of rows0 and rows1 rows, if segment_rows of them (a power of two) make a
 * segment.
 */
extern gs_sides gs_sides_number(uint64_t rows0, uint64_t rows1, uint64_t segment_rows);

static inline uint64_t
gs_sides_rows(const gs_sides *sides)
{
	return sides->full[0] + sides->full[1] + sides->rest[0] + sides->rest[1];
}

/* Returns the side of the row with an id, and sets *row to its number on that side. */
static inline unsigned
gs_sides_find(const gs_sides *sides, uint32_t id, uint32_t *row)
{
	uint32_t	full0 = (uint32_t) sides->full[0];
	uint32_t	full = full0 + (uint32_t) sides->full[1];
	uint32_t	rest0 = (uint32_t) sides->rest[0];
	unsigned	side;

	if (id < full)
	{
		side = id >= full0;
		*row = id - (side ? full0 : 0);
		return side;
	}
	id -= full;
	side = id >= rest0;
	*row = side ? full - full0 + id - rest0 : full0 + id;
	return side;
}

/* The result of the sort of both sides. */
typedef struct gs_merged
{
	gs_sides	sides;
	uint64_t	nrows;
	const uint32_t *ids;		/* row ids by position */
	/* bit (i & 63) of word (i >> 6) is set if the row at position i equals the one before */
	const uint64_t *equal;
} gs_merged;

static inline bool
gs_merged_is_equal(const gs_merged *merged, uint64_t position)
{
	return (merged->equal[position >> 6] >> (position & 63) & 1) != 0;
}

/* A group: rows at positions from .. to - 1 that are equal, while no others are equal to them. */
typedef struct gs_equals
{
	uint64_t	from;
	uint64_t	to;
} gs_equals;

/* Where the order is cut. */
typedef struct gs_cuts
{
	const gs_merged *merged;
	uint64_t	piece_rows;
	bool		whole;			/* no group is divided, however long it is */
	gs_equals	group;			/* the last group that was looked for; zeros at first */
} gs_cuts;

/*
 * Returns the group that the row at a position is in.  It is remembered, so that looking for a long
 * group again is cheap.
 */
extern gs_equals gs_cuts_equals(gs_cuts *cuts, uint64_t position);

/*
 * Returns the position at which a piece begins, and the one before it ends.  That position is in
 * the middle of a group if the row there equals the one before.
 */
extern uint64_t gs_cuts_begin(gs_cuts *cuts, uint64_t piece);

/* Where a group ends: how many rows of each side there are before that. */
typedef struct gs_equals_end
{
	uint32_t	rows[2];
} gs_equals_end;

/*
 * Splits the rows at positions from .. to - 1 by side, where from < to.  The numbers of the rows
 * go to rows[0] and rows[1], which have room for to - from + 1 rows each.  For each group, or part
 * of one, ends[] gets how many rows of each side there are up to its end.  Returns how many groups
 * there are, which are no more than rows.
 */
extern uint32_t gs_merged_split(const gs_merged *merged, uint64_t from, uint64_t to,
								uint32_t *const rows[2], gs_equals_end *ends);

/*
 * Writes the numbers of one side's rows among `rows`, which are a group or a part of one; returns
 * how many they are.
 */
extern uint64_t gs_merged_take(const gs_merged *merged, gs_equals rows, unsigned side,
							   uint32_t *numbers);

/* Returns how many rows gs_merged_take() would write, in logarithmically many steps. */
extern uint64_t gs_merged_count(const gs_merged *merged, gs_equals rows, unsigned side);

#endif							/* GS_MERGED_H */
