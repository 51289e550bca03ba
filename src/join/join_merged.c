/*
 * join_merged.c
 *		Ranges of rows of two sides that gpusortd has put in one order; see join_private.h.
 *
 * Rows with nulls have positions in the order as others have.  Nulls are equal to each other there,
 * so such rows form groups, too, and a group that has a null in its key does not match.
 *
 * A group that is longer than a piece is divided.  Each piece that has outer rows of the group
 * joins them with all inner rows of the group.  The numbers of these are taken from the whole
 * group, and kept for the next piece.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "join/join_private.h"

#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

uint64
gpusort_join_merged_rows(const GpuSortJoinSide *sides)
{
	return gs_sides_rows(&sides[OUTER].view.sides);
}

uint64
gpusort_begin_join_merged(GpuSortJoinMerged *merged, GpuSortJoinSide *sides, uint64 piece_rows,
						  const bool unmatched[2], bool whole)
{
	const GpuSortView *holder = sides[OUTER].view.order != NULL ? &sides[OUTER].view
		: &sides[INNER].view;

	*merged = (GpuSortJoinMerged) {
		.sides = sides,
		.unmatched = {unmatched[OUTER], unmatched[INNER]},
		.any_nulls = holder->any_nulls,
		.order = {holder->sides, gs_sides_rows(&holder->sides), holder->order, holder->equal},
		.context = CurrentMemoryContext,
		/* memory that an earlier join has left */
		.rows = {merged->rows[OUTER], merged->rows[INNER]},
		.ends = merged->ends,
		.room = merged->room,
		.divided = {.inner = merged->divided.inner, .room = merged->divided.room},
	};
	merged->cuts = (gs_cuts) {
		.merged = &merged->order, .piece_rows = piece_rows, .whole = whole
	};
	return (merged->order.nrows + piece_rows - 1) / piece_rows;
}

/*
 * Returns an array of `count` elements of `size` bytes in place of `array`, whose contents are
 * lost.
 */
static void *
make_room(GpuSortJoinMerged *merged, void *array, size_t count, size_t size)
{
	if (array != NULL)
		pfree(array);
	return MemoryContextAllocHuge(merged->context, count * size);
}

void
gpusort_begin_join_merged_piece(GpuSortJoinMerged *merged, uint64 piece)
{
	const gs_merged *order = &merged->order;
	uint64		from = gs_cuts_begin(&merged->cuts, piece);
	uint64		to = gs_cuts_begin(&merged->cuts, piece + 1);

	merged->from = from;
	merged->to = to;
	merged->next_group = merged->ngroups = 0;
	merged->at = (gs_equals_end) {{0, 0}};
	if (from == to)
		return;
	if (to - from >= merged->room)
	{
		/* room stays 0 until all three arrays are allocated, which may fail */
		size_t		room = to - from + 1;

		merged->room = 0;
		for (int i = 0; i < 2; i++)
		{
			uint32	   *rows = merged->rows[i];

			merged->rows[i] = NULL;
			merged->rows[i] = make_room(merged, rows, room, sizeof(uint32));
		}
		if (merged->ends != NULL)
			pfree(merged->ends);
		merged->ends = NULL;
		merged->ends = MemoryContextAllocHuge(merged->context, room * sizeof(gs_equals_end));
		merged->room = room;
	}
	merged->begins_divided = gs_merged_is_equal(order, from);
	merged->ends_divided = to < order->nrows && gs_merged_is_equal(order, to);
	merged->ngroups = gs_merged_split(order, from, to, merged->rows, merged->ends);
}

/*
 * Makes the piece's row numbers the orders of both views.  If whole_group, the inner view's order
 * is the inner rows of the divided group instead.
 */
static inline void
show_rows(GpuSortJoinMerged *merged, bool whole_group)
{
	gs_equals_end end = merged->ends[merged->ngroups - 1];

	merged->sides[OUTER].view.order = merged->rows[OUTER];
	merged->sides[OUTER].nrows = end.rows[OUTER];
	merged->sides[INNER].view.order = whole_group ? merged->divided.inner : merged->rows[INNER];
	merged->sides[INNER].nrows = whole_group ? merged->divided.ninner : end.rows[INNER];
}

/*
 * Returns whether the piece's rows from .. to, of one group, match nothing since their key has a
 * null.
 */
static bool
have_null(GpuSortJoinMerged *merged, gs_equals_end from, gs_equals_end to)
{
	GpuSortJoinEnd end = from.rows[OUTER] < to.rows[OUTER] ? OUTER : INNER;
	GpuSortJoinSide *side = &merged->sides[end];

	if (likely(!merged->any_nulls))
		return false;
	gpusort_join_load(side, from.rows[end]);
	return gpusort_join_row_has_null(side);
}

/* Sets a range to the piece's rows from .. to, which are of one group. */
static inline void
set_range(GpuSortJoinRange *range, gs_equals_end from, gs_equals_end to, bool matches)
{
	for (int i = 0; i < 2; i++)
	{
		range->from[i] = from.rows[i];
		range->to[i] = to.rows[i];
	}
	range->matches = matches;
	range->owns_inner = true;
}

/*
 * Returns the divided group that has a position of the order, and how many rows of either side it
 * has.  The last such group is remembered.
 */
static GpuSortJoinDivided *
find_divided(GpuSortJoinMerged *merged, uint64 position)
{
	GpuSortJoinDivided *divided = &merged->divided;
	gs_equals	group = gs_cuts_equals(&merged->cuts, position);

	if (divided->group.from == group.from && divided->group.to == group.to)
		return divided;
	divided->group = group;
	divided->counts[INNER] = gs_merged_count(&merged->order, group, INNER);
	divided->counts[OUTER] = group.to - group.from - divided->counts[INNER];
	divided->ninner = 0;
	return divided;
}

/* Looks up the numbers of all inner rows of the divided group, if that has not been done. */
static void
find_inner_rows(GpuSortJoinMerged *merged)
{
	GpuSortJoinDivided *divided = &merged->divided;

	if (divided->ninner > 0)
		return;
	if (divided->room < divided->counts[INNER])
	{
		uint32	   *inner = divided->inner;

		divided->inner = NULL;
		divided->room = 0;
		divided->inner = make_room(merged, inner, divided->counts[INNER], sizeof(uint32));
		divided->room = divided->counts[INNER];
	}
	divided->ninner = gs_merged_take(&merged->order, divided->group, INNER, divided->inner);
}

/*
 * Returns the range of the piece's part of a divided group: the piece's group `number`, whose rows
 * are from .. to.  Returns false if nothing of it is wanted.
 */
static bool
return_divided(GpuSortJoinMerged *merged, uint32 number, gs_equals_end from, gs_equals_end to,
			   GpuSortJoinRange *range)
{
	uint64		position = number == 0 ? merged->from : merged->to - 1;
	GpuSortJoinDivided *divided = find_divided(merged, position);
	gs_equals	before;
	bool		unmatched = divided->counts[OUTER] == 0 || divided->counts[INNER] == 0;

	show_rows(merged, false);
	if (unmatched || have_null(merged, from, to))
	{
		set_range(range, from, to, false);
		return merged->unmatched[OUTER] || merged->unmatched[INNER];
	}
	/* matching inner rows are returned by the pieces that have outer rows of the group */
	if (from.rows[OUTER] == to.rows[OUTER])
		return false;
	set_range(range, from, to, true);
	find_inner_rows(merged);
	show_rows(merged, true);
	range->from[INNER] = 0;
	range->to[INNER] = divided->ninner;
	before = (gs_equals) {divided->group.from, Max(merged->from, divided->group.from)};
	range->owns_inner = gs_merged_count(&merged->order, before, OUTER) == 0;
	return true;
}

bool
gpusort_next_join_merged_range(GpuSortJoinMerged *merged, GpuSortJoinRange *range)
{
	while (merged->next_group < merged->ngroups)
	{
		uint32		number = merged->next_group++;
		gs_equals_end from = merged->at;
		gs_equals_end to = merged->ends[number];

		merged->at = to;
		if (unlikely((number == 0 && merged->begins_divided) ||
					 (number == merged->ngroups - 1 && merged->ends_divided)))
		{
			if (return_divided(merged, number, from, to, range))
				return true;
			continue;
		}
		if (from.rows[OUTER] < to.rows[OUTER] && from.rows[INNER] < to.rows[INNER])
		{
			show_rows(merged, false);
			set_range(range, from, to, !have_null(merged, from, to));
			return true;
		}
		if (merged->unmatched[from.rows[OUTER] < to.rows[OUTER] ? OUTER : INNER])
		{
			show_rows(merged, false);
			set_range(range, from, to, false);
			return true;
		}
	}
	return false;
}
