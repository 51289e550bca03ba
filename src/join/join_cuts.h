/*
 * join_cuts.h
 *		Cutting two sorted sides into pieces that can be joined one by one.
 *
 * Along the merge path (Odeh et al.; the thesis, section 3.3.1) the pieces are equal in rows of both
 * sides together, whatever the skew.  A cut between (outer, inner) and what follows is such that
 *
 *	- each outer row is in one piece, and so is each inner row, as one that may have no partner;
 *	- the inner rows equal to the first outer rows of a piece begin at its first inner row or behind;
 *	- a cut among equal outer rows lies in front of all inner rows equal to them.  So the piece
 *	  before has the inner rows for its last outer rows behind its end, where they begin;
 *	- inner rows equal to outer ones are not cut apart.
 *
 * Plain C: nothing of the server's.
 */
#ifndef GPUSORT_JOIN_CUTS_H
#define GPUSORT_JOIN_CUTS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum GpuSortJoinEnd
{
	GPUSORT_JOIN_OUTER,
	GPUSORT_JOIN_INNER
} GpuSortJoinEnd;

/* The rows' order: negative, 0 or positive as the row of side a at i is before that of b at j. */
typedef struct GpuSortJoinOrder
{
	int			(*compare) (void *arg, GpuSortJoinEnd a, uint64_t i, GpuSortJoinEnd b, uint64_t j);
	void	   *arg;
	uint64_t	from[2];		/* positions of the first rows, by side */
	uint64_t	to[2];			/* ... and behind the last */
} GpuSortJoinOrder;

typedef struct GpuSortJoinCut
{
	uint64_t	at[2];			/* positions of the first rows behind it, by side */
} GpuSortJoinCut;

/*
 * The cut behind about so many rows of both sides together.  Cuts behind more rows are not before
 * it.  whole: equal outer rows are not cut apart either.
 */
extern GpuSortJoinCut gpusort_join_cut(const GpuSortJoinOrder *order, uint64_t rows, bool whole);

/*
 * The first position of a side, from `from` on, whose row is behind the row of another side at i,
 * to which the row at `from` is equal.  In steps that grow from there.
 */
extern uint64_t gpusort_join_end_of_equals(const GpuSortJoinOrder *order, GpuSortJoinEnd side,
										   uint64_t from, GpuSortJoinEnd other, uint64_t i);

#endif							/* GPUSORT_JOIN_CUTS_H */
