/*
 * join_range.h
 *		A range: the rows of two sorted sides that have one key, or rows of one side that match no
 *		row of the other.
 */
#ifndef GPUSORT_JOIN_RANGE_H
#define GPUSORT_JOIN_RANGE_H

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

#endif							/* GPUSORT_JOIN_RANGE_H */
