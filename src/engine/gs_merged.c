/*
 * gs_merged.c
 *		Two sides that are sorted as one; see gs_merged.h.
 */
#include "engine/gs_merged.h"
#include "engine/gs_engine.h"

gs_sides
gs_sides_number(uint64_t rows0, uint64_t rows1, uint64_t segment_rows)
{
	return (gs_sides) {
		.full = {rows0 - rows0 % segment_rows, rows1 - rows1 % segment_rows},
		.rest = {rows0 % segment_rows, rows1 % segment_rows},
	};
}

/* ---------- groups ---------- */

/* Returns the position of the first row of the group that the row at a position is in. */
static uint64_t
find_group_begin(const gs_merged *merged, uint64_t position)
{
	uint64_t	word = position >> 6;
	uint64_t	begins = ~merged->equal[word] & gs_low_mask((unsigned) (position & 63) + 1);

	/* this ends at the latest at the first row of all, whose bit is never set */
	while (begins == 0)
		begins = ~merged->equal[--word];
	return (word << 6) + gs_bit_width(begins) - 1;
}

/* Returns the position behind the last row of that group. */
static uint64_t
find_group_end(const gs_merged *merged, uint64_t position)
{
	uint64_t	next = position + 1;
	uint64_t	word = next >> 6;
	uint64_t	begins;
	uint64_t	end;

	if (next >= merged->nrows)
		return merged->nrows;
	begins = ~merged->equal[word] & ~gs_low_mask((unsigned) (next & 63));
	while (begins == 0)
	{
		if (++word << 6 >= merged->nrows)
			return merged->nrows;
		begins = ~merged->equal[word];
	}
	end = (word << 6) + gs_trailing_zeros(begins);
	return end < merged->nrows ? end : merged->nrows;
}

gs_equals
gs_cuts_equals(gs_cuts *cuts, uint64_t position)
{
	gs_equals   *group = &cuts->group;

	if (position < group->from || position >= group->to)
		*group = (gs_equals) {
			find_group_begin(cuts->merged, position), find_group_end(cuts->merged, position)
		};
	return *group;
}

uint64_t
gs_cuts_begin(gs_cuts *cuts, uint64_t piece)
{
	uint64_t	position = piece * cuts->piece_rows;
	gs_equals	group;

	if (position >= cuts->merged->nrows)
		return cuts->merged->nrows;
	if (!gs_merged_is_equal(cuts->merged, position))
		return position;
	group = gs_cuts_equals(cuts, position);
	return cuts->whole || group.to - group.from <= cuts->piece_rows ? group.to : position;
}

/* ---------- sides ---------- */

uint32_t
gs_merged_split(const gs_merged *merged, uint64_t from, uint64_t to, uint32_t *const rows[2],
				gs_equals_end *ends)
{
	const gs_sides sides = merged->sides;
	const uint32_t *ids = merged->ids;
	uint32_t   *rows0 = rows[0];
	uint32_t   *rows1 = rows[1];
	uint32_t	count0 = 0;
	uint32_t	ngroups = 0;
	uint64_t	begins = 0;

	/*
	 * Nobody can foretell which side is next and whether a group ends, so nothing branches on it.
	 */
	for (uint64_t position = from; position < to; position++)
	{
		uint32_t	count1 = (uint32_t) (position - from) - count0;
		uint32_t	row;
		unsigned	side = gs_sides_find(&sides, ids[position], &row);

		begins = (position & 63) == 0 || position == from ?
			~merged->equal[position >> 6] >> (position & 63) : begins >> 1;
		ends[ngroups] = (gs_equals_end) {{count0, count1}};
		ngroups += (unsigned) begins & 1 & (position != from);
		rows0[count0] = row;
		rows1[count1] = row;
		count0 += 1 - side;
	}
	ends[ngroups++] = (gs_equals_end) {{count0, (uint32_t) (to - from) - count0}};
	return ngroups;
}

/*
 * Returns the first position of a group, or a part of one, whose row id is at least `id`.  Equal
 * rows are in the order of their ids.
 */
static uint64_t
find_id(const gs_merged *merged, gs_equals rows, uint64_t id)
{
	uint64_t	low = rows.from;
	uint64_t	high = rows.to;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (merged->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Finds the two stretches in which the rows of a side lie among equal rows. */
static void
find_side(const gs_merged *merged, gs_equals rows, unsigned side, gs_equals stretches[2])
{
	const gs_sides *sides = &merged->sides;
	uint64_t	full = sides->full[0] + sides->full[1];
	uint64_t	begins_full1 = find_id(merged, rows, sides->full[0]);
	uint64_t	begins_rest0 = find_id(merged, rows, full);
	uint64_t	begins_rest1 = find_id(merged, rows, full + sides->rest[0]);

	if (side == 0)
	{
		stretches[0] = (gs_equals) {rows.from, begins_full1};
		stretches[1] = (gs_equals) {begins_rest0, begins_rest1};
	}
	else
	{
		stretches[0] = (gs_equals) {begins_full1, begins_rest0};
		stretches[1] = (gs_equals) {begins_rest1, rows.to};
	}
}

uint64_t
gs_merged_count(const gs_merged *merged, gs_equals rows, unsigned side)
{
	gs_equals	stretches[2];

	find_side(merged, rows, side, stretches);
	return stretches[0].to - stretches[0].from + stretches[1].to - stretches[1].from;
}

uint64_t
gs_merged_take(const gs_merged *merged, gs_equals rows, unsigned side, uint32_t *numbers)
{
	gs_equals	stretches[2];
	uint64_t	count = 0;

	find_side(merged, rows, side, stretches);
	for (int i = 0; i < 2; i++)
		for (uint64_t position = stretches[i].from; position < stretches[i].to; position++)
			(void) gs_sides_find(&merged->sides, merged->ids[position], &numbers[count++]);
	return count;
}
