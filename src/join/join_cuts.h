/*
 * join_cuts.h
 *		Cutting two sorted sides into pieces that can be joined one by one.
 *
 * A piece is a stretch of outer rows and a stretch of inner rows.  Pieces are cut along the merge
 * path (Odeh et al.; the thesis, section 3.3.1), so that all have the same number of rows of both
 * sides together, whatever the skew.  A cut is a position of each side, such that
 *
 *	- each outer row is in one piece, and so is each inner row, in case it has no partner;
 *	- the inner rows that are equal to a piece's first outer rows begin at the piece's first inner
 *	  row or behind it;
 *	- a cut among equal outer rows lies in front of all inner rows equal to them.  So the inner rows
 *	  that match the last outer rows of the piece before the cut begin right behind that piece;
 *	- inner rows that are equal to an outer row are not cut apart.
 *
 * This is plain C that uses nothing of the server.
 */
#ifndef GPUSORT_JOIN_CUTS_H
#define GPUSORT_JOIN_CUTS_H

#include <stdbool.h>
#include <stdint.h>

/* The two sides; also indexes into arrays "by side". */
typedef enum GpuSortJoinEnd
{
	GPUSORT_JOIN_OUTER,
	GPUSORT_JOIN_INNER
} GpuSortJoinEnd;

/*
 * The rows of both sides, and how they are ordered.  compare() returns a negative number, 0 or a
 * positive number if row i of side a sorts before, with or behind row j of side b; a and b may be
 * the same side.
 */
typedef struct GpuSortJoinOrder
{
	int			(*compare) (void *arg, GpuSortJoinEnd a, uint64_t i, GpuSortJoinEnd b, uint64_t j);
	void	   *arg;
	uint64_t	from[2];		/* positions of the first rows, by side */
	uint64_t	to[2];			/* positions behind the last rows, by side */
} GpuSortJoinOrder;

typedef struct GpuSortJoinCut
{
	uint64_t	at[2];			/* positions of the first rows behind the cut, by side */
} GpuSortJoinCut;

/*
 * Returns the cut behind about `rows` rows of both sides together.  A cut behind more rows never
 * lies before a cut behind fewer.  If `whole`, equal outer rows are not cut apart either.
 */
extern GpuSortJoinCut gpusort_join_cut(const GpuSortJoinOrder *order, uint64_t rows, bool whole);

/*
 * Returns the end of the rows of `side`, from position `from` on, that are equal to row i of side
 * `other`, as the row at `from` is known to be.  It is looked for in growing steps from there.
 */
extern uint64_t gpusort_join_end_of_equals(const GpuSortJoinOrder *order, GpuSortJoinEnd side,
										   uint64_t from, GpuSortJoinEnd other, uint64_t i);

#endif							/* GPUSORT_JOIN_CUTS_H */
