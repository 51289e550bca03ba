/*
 * gs_simulated_order.c
 *		What the simulated device does to rows in key order: sorting, equal
 *		neighbours, ties, copies of stored rows.
 *
 * These are operations of gs_device_ops, on the caller's own memory and in one thread.
 */
#include <string.h>

#include "engine/device/gs_device.h"
#include "engine/gs_engine.h"
#include "engine/simulated/gs_simulated_private.h"

#define RADIX_BITS	8
#define RADIX_DIGITS (1 << RADIX_BITS)

static inline uint64_t
get_id(const void *ids, unsigned id_bytes, uint64_t i)
{
	return id_bytes == 4 ? ((const uint32_t *) ids)[i] : ((const uint64_t *) ids)[i];
}

static inline void
put_id(void *ids, unsigned id_bytes, uint64_t i, uint64_t id)
{
	if (id_bytes == 4)
		((uint32_t *) ids)[i] = (uint32_t) id;
	else
		((uint64_t *) ids)[i] = id;
}

/*
 * Makes one pass on the digit at `shift`.  Returns false if all rows agree in it, and nothing was
 * moved.
 */
static bool
radix_pass(gs_pairs from, gs_pairs to, unsigned id_bytes, uint64_t nrows, unsigned shift,
		   unsigned bits)
{
	const uint64_t mask = gs_low_mask(bits);
	uint64_t	places[RADIX_DIGITS] = {0};
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < nrows; i++)
		places[from.keys[i] >> shift & mask]++;
	if (places[from.keys[0] >> shift & mask] == nrows)
		return false;
	for (unsigned digit = 0; digit <= mask; digit++)
	{
		uint64_t	count = places[digit];

		places[digit] = sum;
		sum += count;
	}
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	place = places[from.keys[i] >> shift & mask]++;

		to.keys[place] = from.keys[i];
		put_id(to.ids, id_bytes, place, get_id(from.ids, id_bytes, i));
	}
	return true;
}

/* Sorts by the least significant digit first; returns true if the result is in spare. */
bool
gs_simulated_sort(gs_pairs pairs, gs_pairs spare, unsigned id_bytes, uint64_t nrows,
				  unsigned low_bit, unsigned bits)
{
	bool		in_spare = false;

	for (unsigned shift = low_bit; shift < bits && nrows > 1; shift += RADIX_BITS)
	{
		unsigned	digit_bits = bits - shift < RADIX_BITS ? bits - shift : RADIX_BITS;

		if (radix_pass(in_spare ? spare : pairs, in_spare ? pairs : spare, id_bytes, nrows,
					   shift, digit_bits))
			in_spare = !in_spare;
	}
	return in_spare;
}

/* Sorts a run by insertion. */
static void
sort_run(gs_pairs pairs, unsigned id_bytes, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin + 1; i < end; i++)
	{
		uint64_t	key = pairs.keys[i];
		uint64_t	id = get_id(pairs.ids, id_bytes, i);
		uint64_t	at = i;

		for (; at > begin && pairs.keys[at - 1] > key; at--)
		{
			pairs.keys[at] = pairs.keys[at - 1];
			put_id(pairs.ids, id_bytes, at, get_id(pairs.ids, id_bytes, at - 1));
		}
		pairs.keys[at] = key;
		put_id(pairs.ids, id_bytes, at, id);
	}
}

/* Returns false if there are runs out of order that are too long or too many. */
bool
gs_simulated_sort_runs(gs_pairs pairs, unsigned id_bytes, uint64_t nrows, unsigned low_bit)
{
	unsigned	nlong = 0;
	bool		sorted = true;
	uint64_t	end;

	for (uint64_t begin = 0; begin < nrows; begin = end)
	{
		bool		ascending = true;

		for (end = begin + 1;
			 end < nrows && (pairs.keys[end] ^ pairs.keys[begin]) >> low_bit == 0; end++)
			ascending = ascending && pairs.keys[end - 1] <= pairs.keys[end];
		if (ascending)
			continue;
		if (end - begin <= GS_SHORT_RUN ||
			(end - begin <= GS_LONG_RUN && ++nlong <= GS_MANY_RUNS))
			sort_run(pairs, id_bytes, begin, end);
		else
			sorted = false;
	}
	return sorted;
}

void
gs_simulated_mark_equal(const uint64_t *keys, const uint32_t *positions, uint64_t nrows, bool tied,
						unsigned first_bit, uint32_t *bitmap)
{
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	bit = first_bit + (positions == NULL ? i : positions[i]);

		if (i == 0 ? tied : keys[i] == keys[i - 1])
			bitmap[bit / 32] |= UINT32_C(1) << bit % 32;
	}
}

/*
 * A rank has the number of the row's run in its upper half and the row's number among the tied rows
 * in its lower half; rows that do not tie have NOT_TIED.
 */
#define NOT_TIED	UINT64_MAX

gs_tie_counts
gs_simulated_find_ties(const uint64_t *keys, uint64_t nrows, uint64_t *ranks)
{
	gs_tie_counts counts = {0, 0};

	for (uint64_t i = 0; i < nrows; i++)
	{
		bool		with_last = i > 0 && keys[i] == keys[i - 1];
		bool		with_next = i + 1 < nrows && keys[i] == keys[i + 1];

		ranks[i] = NOT_TIED;
		if (!with_last && !with_next)
			continue;
		if (!with_last)
			counts.runs++;
		ranks[i] = (counts.runs - 1) << 32 | counts.rows++;
	}
	return counts;
}

void
gs_simulated_take_ties(gs_pairs from, const uint32_t *positions, const uint64_t *ranks,
					   uint64_t nrows, unsigned id_bytes, const gs_section *section,
					   const gs_plane_rows *planes, uint32_t *to_positions, gs_pairs to)
{
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	id = get_id(from.ids, id_bytes, i);
		uint64_t	place = ranks[i] & UINT32_MAX;

		if (ranks[i] == NOT_TIED)
			continue;
		to_positions[place] = positions == NULL ? (uint32_t) i : positions[i];
		put_id(to.ids, id_bytes, place, id);
		to.keys[place] = section->width == 64 ? 0 : ranks[i] >> 32 << section->width;
		to.keys[place] |= gs_row_section(section, planes, id);
	}
}

void
gs_simulated_put_ids(void *ids, const uint32_t *positions, const void *from_ids, unsigned id_bytes,
					 uint64_t nrows)
{
	for (uint64_t i = 0; i < nrows; i++)
		put_id(ids, id_bytes, positions[i], get_id(from_ids, id_bytes, i));
}

void
gs_simulated_count_up(void *ids, unsigned id_bytes, uint64_t first, uint64_t nrows)
{
	for (uint64_t i = 0; i < nrows; i++)
		put_id(ids, id_bytes, i, first + i);
}

void
gs_simulated_check_rows(const gs_checked_rows *rows, gs_order_check *check)
{
	const uint64_t *keys = rows->rows.keys;
	bool		has_last = rows->before.ids != NULL;
	uint64_t	last_key = has_last && keys != NULL ? rows->before.keys[0] : 0;
	uint64_t	last_id = has_last ? get_id(rows->before.ids, rows->id_bytes, 0) : 0;

	for (uint64_t i = 0; i < rows->nrows; i++)
	{
		uint64_t	key = keys != NULL ? keys[i] : 0;
		uint64_t	id = get_id(rows->rows.ids, rows->id_bytes, i);

		bool		descends = id >= rows->nids;

		if (rows->positions != NULL)
			descends |= get_id(rows->placed, rows->id_bytes, rows->positions[i]) != id;
		gs_sum_row(&check->sums, key, id);
		if (i > 0 || has_last)
		{
			descends |= key < last_key || (key == last_key && id <= last_id);
			check->ties += key == last_key;
		}
		else
		{
			check->first_key = key;
			check->first_id = id;
		}
		check->descents += descends;
		check->last_key = last_key = key;
		check->last_id = last_id = id;
	}
}

/* ---------- stored rows ---------- */

static const uint64_t *
stored_word(const gs_stored_rows *rows, uint64_t offset)
{
	return rows->slabs[offset >> GS_SLAB_SHIFT] + (offset & (GS_SLAB_BYTES - 1)) / sizeof(uint64_t);
}

/*
 * Returns how many units a row with a length of its own takes; 0 if its id or reference leads
 * nowhere.
 */
static uint64_t
row_units(const gs_stored_rows *rows, uint32_t id)
{
	uint64_t	offset;
	uint64_t	length;

	if (id >= rows->nrows)
		return 0;
	offset = (uint64_t) rows->refs[id] * rows->unit;
	if (offset >= rows->bytes)
		return 0;
	length = gs_row_bytes(rows->length, *stored_word(rows, offset));
	if (length > rows->bytes - offset)
		length = rows->bytes - offset;
	return (length + rows->unit - 1) / rows->unit;
}

uint64_t
gs_simulated_place_rows(const gs_gather *gather)
{
	uint64_t	units = 0;

	for (uint64_t i = 0; i < gather->nrows; i++)
		gather->ends[i] = units += row_units(&gather->from, gather->ids[i]);
	return units;
}

/* Copies words that may lie in several slabs; those behind the last slab are left out. */
static void
copy_words(uint64_t *to, const gs_stored_rows *rows, uint64_t offset, uint64_t bytes)
{
	if (offset >= rows->bytes)
		return;
	if (bytes > rows->bytes - offset)
		bytes = rows->bytes - offset;
	while (bytes > 0)
	{
		uint64_t	count = GS_SLAB_BYTES - (offset & (GS_SLAB_BYTES - 1));

		count = count < bytes ? count : bytes;
		memcpy(to, stored_word(rows, offset), count);
		to += count / sizeof(uint64_t);
		offset += count;
		bytes -= count;
	}
}

void
gs_simulated_gather_rows(const gs_gather *gather)
{
	const gs_stored_rows *from = &gather->from;
	uint64_t	begin = 0;

	for (uint64_t i = 0; i < gather->nrows; i++)
	{
		uint32_t	id = gather->ids[i] < from->nrows ? gather->ids[i] : 0;

		if (from->stride > 0)
		{
			copy_words((uint64_t *) gather->rows + i * (from->stride / 8), from, id * from->stride,
					   from->stride);
			continue;
		}
		gather->refs[i] = gather->first_ref + (uint32_t) begin;
		copy_words((uint64_t *) gather->rows + begin * (from->unit / 8), from,
				   (uint64_t) from->refs[id] * from->unit, (gather->ends[i] - begin) * from->unit);
		begin = gather->ends[i];
	}
}
