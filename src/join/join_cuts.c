/*
 * join_cuts.c
 *		Cutting two sorted sides into pieces; see join_cuts.h.
 */
#include "join/join_cuts.h"

static int
compare(const GpuSortJoinOrder *order, GpuSortJoinEnd a, uint64_t i, GpuSortJoinEnd b, uint64_t j)
{
	return order->compare(order->arg, a, i, b, j);
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Returns where the merge path crosses the diagonal of so many rows of both sides together.  Of
 * equal rows, the path takes outer ones first.  So the outer row before the cut does not sort
 * behind the inner row after it, and the inner row before the cut sorts in front of the outer row
 * after it.
 */
static GpuSortJoinCut
cross_diagonal(const GpuSortJoinOrder *order, uint64_t rows)
{
	const uint64_t *from = order->from;
	uint64_t	nouter = order->to[GPUSORT_JOIN_OUTER] - from[GPUSORT_JOIN_OUTER];
	uint64_t	ninner = order->to[GPUSORT_JOIN_INNER] - from[GPUSORT_JOIN_INNER];
	uint64_t	low = rows > ninner ? rows - ninner : 0;
	uint64_t	high = smaller(rows, nouter);

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (compare(order, GPUSORT_JOIN_OUTER, from[GPUSORT_JOIN_OUTER] + middle,
					GPUSORT_JOIN_INNER, from[GPUSORT_JOIN_INNER] + rows - 1 - middle) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (GpuSortJoinCut) {{
		from[GPUSORT_JOIN_OUTER] + low, from[GPUSORT_JOIN_INNER] + rows - low
	}};
}

uint64_t
gpusort_join_end_of_equals(const GpuSortJoinOrder *order, GpuSortJoinEnd side, uint64_t from,
						   GpuSortJoinEnd other, uint64_t i)
{
	uint64_t	inside = from;
	uint64_t	outside = order->to[side];

	/* take ever longer steps, then halve the last one */
	for (uint64_t step = 1; inside + step < outside; step *= 2)
	{
		if (compare(order, side, inside + step, other, i) != 0)
		{
			outside = inside + step;
			break;
		}
		inside += step;
	}
	while (outside - inside > 1)
	{
		uint64_t	middle = inside + (outside - inside) / 2;

		if (compare(order, side, middle, other, i) == 0)
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

/* Returns the position of the first outer row that is equal to outer row i. */
static uint64_t
beginning_of_equals(const GpuSortJoinOrder *order, uint64_t i)
{
	uint64_t	low = order->from[GPUSORT_JOIN_OUTER];
	uint64_t	high = i;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (compare(order, GPUSORT_JOIN_OUTER, middle, GPUSORT_JOIN_OUTER, i) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

GpuSortJoinCut
gpusort_join_cut(const GpuSortJoinOrder *order, uint64_t rows, bool whole)
{
	GpuSortJoinCut cut = cross_diagonal(order, rows);
	uint64_t   *outer = &cut.at[GPUSORT_JOIN_OUTER];
	uint64_t   *inner = &cut.at[GPUSORT_JOIN_INNER];
	bool		splits_outer = *outer > order->from[GPUSORT_JOIN_OUTER] &&
		*outer < order->to[GPUSORT_JOIN_OUTER] &&
		compare(order, GPUSORT_JOIN_OUTER, *outer - 1, GPUSORT_JOIN_OUTER, *outer) == 0;

	if (splits_outer)
	{
		/* all inner rows that are equal to these outer rows are behind the cut already */
		if (whole)
			*outer = beginning_of_equals(order, *outer);
	}
	else if (*outer > order->from[GPUSORT_JOIN_OUTER] && *inner < order->to[GPUSORT_JOIN_INNER] &&
			 compare(order, GPUSORT_JOIN_OUTER, *outer - 1, GPUSORT_JOIN_INNER, *inner) == 0)
		*inner = gpusort_join_end_of_equals(order, GPUSORT_JOIN_INNER, *inner,
											GPUSORT_JOIN_OUTER, *outer - 1);
	return cut;
}
