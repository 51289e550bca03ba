/*
 * join_range.h
 *		Rows of two sorted sides that have the same key, or rows of one that no row of the other
 *		matches.
 */
#ifndef GPUSORT_JOIN_RANGE_H
#define GPUSORT_JOIN_RANGE_H

typedef struct GpuSortJoinRange
{
	uint64		from[2];		/* positions, by side */
	uint64		to[2];			/* ... behind the last; the same if there are no rows on that side */
	bool		matches;		/* each outer row matches each inner row, as far as keys go; else
								 * none does */
	bool		owns_inner;		/* no other range has these inner rows as well */
} GpuSortJoinRange;

#endif							/* GPUSORT_JOIN_RANGE_H */
