/*
 * gs_merged.h
 *		Two sides that are sorted as one, and what of their order is equal.
 *
 * A sort-merge join sorts both of its sides and merges them.  Sorted by one job, they come out
 * merged: the rows of both in one order, and the bitmap of equal neighbours says which have the same
 * key.  It is all that there is to know about matches, a bit a row.
 *
 * For that the rows of both are numbered together.  Planes must not be copied, and are named by
 * whole segments; so first come the rows of either side that fill whole segments, and behind them
 * those that are left of both, which are fewer than two segments and are copied.  Rows of a side keep
 * their order among each other.
 *
 * The order is cut into pieces of equal length, whatever the skew: what a merge path would find for
 * two sorted arrays lies here at the multiples of a number.  A cut moves to the end of the group of
 * equal rows that it falls into, unless the group is longer than a piece: then it is divided, and who
 * has some rows of one side finds those of the other by himself.
 *
 * No memory is taken, and nothing global.  Positions count from the beginning of the merged order.
 */
#ifndef GS_MERGED_H
#define GS_MERGED_H

#include <stdbool.h>
#include <stdint.h>

/* How rows of two sides are numbered. */
typedef struct gs_sides
{
	uint64_t	full[2];		/* rows of whole segments, by side */
	uint64_t	rest[2];		/* rows behind them */
} gs_sides;

/* Sides of so many rows, of which so many (a power of two) make a segment. */
extern gs_sides gs_sides_number(uint64_t rows0, uint64_t rows1, uint64_t segment_rows);

static inline uint64_t
gs_sides_rows(const gs_sides *sides)
{
	return sides->full[0] + sides->full[1] + sides->rest[0] + sides->rest[1];
}

/* The side of the row with an id, and its number there. */
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

/* The result of the sort. */
typedef struct gs_merged
{
	gs_sides	sides;
	uint64_t	nrows;
	const uint32_t *ids;		/* by position */
	const uint64_t *equal;		/* bit (i & 63) of word (i >> 6): the row at i equals that before */
} gs_merged;

static inline bool
gs_merged_is_equal(const gs_merged *merged, uint64_t position)
{
	return (merged->equal[position >> 6] >> (position & 63) & 1) != 0;
}

/* Rows at positions from .. to - 1 that are equal, and no others are equal to them. */
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
	bool		whole;			/* no group is divided, however long */
	gs_equals	group;			/* the last one that was looked for; zeros at first */
} gs_cuts;

/* The group of the row at a position; remembered, so looking for a long one again is cheap. */
extern gs_equals gs_cuts_equals(gs_cuts *cuts, uint64_t position);

/*
 * The position at which a piece begins, and the one before it ends.  It is in the middle of a
 * group if the row there equals the one before.
 */
extern uint64_t gs_cuts_begin(gs_cuts *cuts, uint64_t piece);

/* So many rows of each side lie before the end of a group. */
typedef struct gs_equals_end
{
	uint32_t	rows[2];
} gs_equals_end;

/*
 * The rows at positions from .. to - 1, from < to, by side: in rows[0] and rows[1], which have room
 * for one row more than that each; and for each group, or part of one, how many there are up to
 * its end.  Returns how many groups, which are no more than rows.
 */
extern uint32_t gs_merged_split(const gs_merged *merged, uint64_t from, uint64_t to,
								uint32_t *const rows[2], gs_equals_end *ends);

/* The rows of one side among those of one group, or part of one; returns how many. */
extern uint64_t gs_merged_take(const gs_merged *merged, gs_equals rows, unsigned side,
							   uint32_t *numbers);

/* How many there are: in logarithmically many steps. */
extern uint64_t gs_merged_count(const gs_merged *merged, gs_equals rows, unsigned side);

#endif							/* GS_MERGED_H */
