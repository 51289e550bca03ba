/*
 * gs_merged.c
 *		Two sides that are sorted as one; see gs_merged.h.
 */
#include "engine/gs_merged.h"
#include "engine/gs_bits.h"

gs_sides
gs_sides_number(uint64_t rows0, uint64_t rows1, uint64_t segment_rows)
{
	return (gs_sides) {
		.full = {rows0 - rows0 % segment_rows, rows1 - rows1 % segment_rows},
		.rest = {rows0 % segment_rows, rows1 % segment_rows},
	};
}

/* ---------- groups ---------- */

/* The first row of the group that the row at a position is in. */
static uint64_t
find_group_begin(const gs_merged *merged, uint64_t position)
{
	uint64_t	word = position >> 6;
	uint64_t	begins = ~merged->equal[word] & gs_low_mask((unsigned) (position & 63) + 1);

	/* the first row of all equals none */
	while (begins == 0)
		begins = ~merged->equal[--word];
	return (word << 6) + gs_bit_width(begins) - 1;
}

/* Behind its last row. */
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

	/* Which side is next, and whether a group ends, nobody can foretell: so nothing branches. */
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

uint64_t
gs_merged_take(const gs_merged *merged, uint64_t from, uint64_t to, unsigned side, uint32_t *rows)
{
	uint64_t	count = 0;

	for (uint64_t position = from; position < to; position++)
	{
		uint32_t	row;

		if (gs_sides_find(&merged->sides, merged->ids[position], &row) == side)
			rows[count++] = row;
	}
	return count;
}

uint64_t
gs_merged_count(const gs_merged *merged, uint64_t from, uint64_t to, unsigned side)
{
	uint64_t	count = 0;

	for (uint64_t position = from; position < to; position++)
	{
		uint32_t	row;

		count += gs_sides_find(&merged->sides, merged->ids[position], &row) == side;
	}
	return count;
}
