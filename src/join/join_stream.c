/*
 * join_stream.c
 *		Ranges of rows of two sides that are read through their children; see join_stream.h.
 *
 * A range says how many rows it has on both sides, so its rows are read to its end before it is
 * returned, and once more to be joined.  That is slow, but this way of joining is never chosen for
 * its speed.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/join_stream.h"

#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

void
gpusort_begin_join_stream(GpuSortJoinStream *stream, GpuSortJoinSide *sides, GpuSortJoinKeys *keys)
{
	stream->sides = sides;
	stream->keys = keys;
	stream->at[OUTER] = stream->at[INNER] = 0;
}

/*
 * Moves both sides to the rows to be looked at next, and sets marks there.  found[] tells which
 * sides have such a row.
 */
static void
go_to_beginning(GpuSortJoinStream *stream, bool found[2])
{
	for (int i = 0; i < 2; i++)
	{
		GpuSortJoinSide *side = &stream->sides[i];

		if (side->is_view)
		{
			found[i] = stream->at[i] < side->nrows;
			if (found[i])
				gpusort_join_load(side, stream->at[i]);
		}
		else
			found[i] = gpusort_join_seek_and_mark(side, stream->at[i]);
	}
}

/* Makes the row at a position the current row of its side; returns false if there is none. */
static bool
load_row(GpuSortJoinSide *side, uint64 position)
{
	if (!side->is_view)
		return gpusort_join_seek(side, position);
	if (position >= side->nrows)
		return false;
	gpusort_join_load(side, position);
	return true;
}

/*
 * Returns the end of the rows of a side that are equal to the current row of the other side.  The
 * row behind them must be greater, if the comparison across the sides agrees with their orders.
 */
static uint64
end_of_equals(GpuSortJoinStream *stream, GpuSortJoinEnd side)
{
	uint64		end = stream->at[side];
	int			cmp = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		end++;
		if (!load_row(&stream->sides[side], end))
			return end;
		cmp = gpusort_compare_join_rows(stream->keys);
	} while (cmp == 0);
	if ((cmp < 0) == (side == OUTER))
		gpusort_join_is_out_of_order();
	return end;
}

/* Returns a range of the next row of a side, which has no match. */
static bool
return_unmatched(GpuSortJoinStream *stream, GpuSortJoinEnd side, GpuSortJoinRange *range)
{
	range->from[side] = stream->at[side]++;
	range->to[side] = stream->at[side];
	range->from[!side] = range->to[!side] = stream->at[!side];
	range->matches = false;
	return true;
}

bool
gpusort_next_join_stream_range(GpuSortJoinStream *stream, GpuSortJoinRange *range)
{
	GpuSortJoinSide *outer = &stream->sides[OUTER];
	bool		found[2];
	int			cmp;

	go_to_beginning(stream, found);
	range->owns_inner = true;
	if (!found[OUTER] && !found[INNER])
		return false;
	if (!found[OUTER] || !found[INNER])
		return return_unmatched(stream, found[OUTER] ? OUTER : INNER, range);
	cmp = gpusort_compare_join_rows(stream->keys);
	if (cmp != 0 || gpusort_join_row_has_null(outer))
		return return_unmatched(stream, cmp > 0 ? INNER : OUTER, range);

	range->matches = true;
	for (int i = 0; i < 2; i++)
	{
		range->from[i] = stream->at[i];
		range->to[i] = end_of_equals(stream, i);
		(void) load_row(&stream->sides[i], range->from[i]);
	}
	for (int i = 0; i < 2; i++)
		stream->at[i] = range->to[i];
	return true;
}
