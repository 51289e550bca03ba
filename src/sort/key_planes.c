/*
 * key_planes.c
 *		What the engine sorts by; see key_planes.h.
 *
 * Planes of all columns, in order, up to the first one whose strings go on
 * behind their first word: what lies behind an undecided prefix must not take
 * part, and is left to the refinement (key_refine.c).
 *
 * Strings waste bits: digits need 3.3 of a byte's 8, hexadecimal 4, lower case
 * letters 4.7, and the engine pays for all that lie between them.  So the words of
 * string prefixes are renumbered: each byte by its rank among the bytes that occur
 * at its position, and the ranks combined as digits of a number of mixed radix.
 * That keeps the order, and leaves of 62 bits of hexadecimal digits the 32 that
 * tell something.
 *
 * If all strings of that column begin alike (a protocol, a path, a tag), their
 * first words tell nothing.  The prefixes are then taken from behind what they
 * have in common, which was noted when they came.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "interrupts.h"
#include "sort/key_planes.h"
#include "sort/key_strings.h"

/*
 * Leading bytes that all strings of a column must share for its prefixes to be
 * rebuilt behind them.  A pass over all strings costs 10-20 ns a row, each byte
 * left out halves the ties up to 8 times.
 */
#define MIN_COMMON_BYTES 3

/*
 * Renumbering takes two passes over the plane, 8 ns a row.  A sample tells
 * whether it saves as many bits as make that worth while; with few rows it is not.
 */
#define ALPHABET_SAMPLE_ROWS	1024
#define ALPHABET_MIN_ROWS		4096
#define ALPHABET_MIN_BITS		8

/* Fill the column's prefix plane with the words behind what its strings share. */
static void
rebase_prefix(GpuSortColumn *column, const GpuSortRows *rows)
{
	uint64	   *prefix = RANGE_U64(column->prefix);
	const uint64 *refs = RANGE_U64(column->refs);

	column->base = column->facts.common_len;
	column->facts.long_keys = false;
	for (uint64 id = 0; id < rows->count; id++)
	{
		uint32		len;

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (column_is_null(column, (uint32) id))
			continue;
		len = KEY_REF_LENGTH(refs[id]);
		prefix[id] = bytes_word(column->bytes, string_by_ref(rows->places.base, refs[id]), len,
								column->base) ^ column->flip;
		column->facts.long_keys |= bytes_continue(column->bytes, len, column->base);
	}
}

/* Which bytes occur at each position of the words, and how many. */
typedef struct Alphabets
{
	bool		seen[sizeof(uint64)][256];
	int			size[sizeof(uint64)];
	double		bits;			/* of a word renumbered by them */
} Alphabets;

/* Position 0 is the most significant byte. */
static inline unsigned char
byte_at(uint64 word, int position)
{
	return (unsigned char) (word >> (8 * (sizeof(uint64) - 1 - position)));
}

/* Find the alphabets of every step-th row that is not null. */
static void
find_alphabets(const GpuSortColumn *column, uint64 nrows, uint64 step, Alphabets *alphabets)
{
	const uint64 *prefix = RANGE_U64(column->prefix);
	uint64		checked = 0;

	memset(alphabets, 0, sizeof(*alphabets));
	for (uint64 id = 0; id < nrows; id += step)
	{
		if (++checked % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (column_is_null(column, (uint32) id))
			continue;
		for (int p = 0; p < sizeof(uint64); p++)
			alphabets->seen[p][byte_at(prefix[id], p)] = true;
	}
	for (int p = 0; p < sizeof(uint64); p++)
	{
		for (int b = 0; b < 256; b++)
			alphabets->size[p] += alphabets->seen[p][b];
		alphabets->bits += log2(Max(alphabets->size[p], 1));
	}
}

/* Bits that the engine would keep of the plane: those of its range. */
static double
range_bits(const GpuSortColumn *column, uint64 nrows, uint64 step)
{
	const uint64 *prefix = RANGE_U64(column->prefix);
	uint64		min = PG_UINT64_MAX;
	uint64		max = 0;

	for (uint64 id = 0; id < nrows; id += step)
	{
		if (column_is_null(column, (uint32) id))
			continue;
		min = Min(min, prefix[id]);
		max = Max(max, prefix[id]);
	}
	return max > min ? log2((double) (max - min)) : 0;
}

/* Renumber the words of the column's prefix plane, if that saves bits. */
static void
renumber_prefix(GpuSortColumn *column, uint64 nrows)
{
	uint64	   *prefix = RANGE_U64(column->prefix);
	uint64		sample_step = nrows / ALPHABET_SAMPLE_ROWS + 1;
	Alphabets	alphabets;
	uint64		digits[sizeof(uint64)][256];	/* rank times weight of position */
	uint64		weight = 1;

	/* a sample has no larger alphabets and no wider range than the whole */
	find_alphabets(column, nrows, sample_step, &alphabets);
	if (nrows < ALPHABET_MIN_ROWS ||
		alphabets.bits + ALPHABET_MIN_BITS > range_bits(column, nrows, sample_step))
		return;
	find_alphabets(column, nrows, 1, &alphabets);

	/* the product of all sizes is at most 256^8, so the largest number fits */
	for (int p = sizeof(uint64) - 1; p >= 0; p--)
	{
		uint64		rank = 0;

		for (int b = 0; b < 256; b++)
		{
			digits[p][b] = rank * weight;
			rank += alphabets.seen[p][b];
		}
		weight *= Max(rank, 1);
	}
	for (uint64 id = 0; id < nrows; id++)
	{
		uint64		word = prefix[id];
		uint64		number = 0;

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		for (int p = 0; p < sizeof(uint64); p++)
			number += digits[p][byte_at(word, p)];
		prefix[id] = number;
	}
}

void
gpusort_choose_planes(GpuSortKeys *keys, const GpuSortRows *rows)
{
	gs_plane   *planes = keys->planes;
	unsigned	n = 0;

	keys->refine_column = -1;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortColumn *column = &keys->columns[i];
		const uint64 *nulls = column->nulls != NULL ? RANGE_U64(column->nulls) : NULL;
		gs_null_order null_order = column->nulls_first ? GS_NULLS_FIRST : GS_NULLS_LAST;

		if (column->bytes != GPUSORT_BYTES_NONE)
		{
			if (column->facts.long_keys && column->facts.common_len >= MIN_COMMON_BYTES)
				rebase_prefix(column, rows);
			renumber_prefix(column, rows->count);
			planes[n++] = (gs_plane) {RANGE_U64(column->prefix), nulls, null_order};
			null_order = GS_NULLS_NONE;
			if (column->facts.long_keys)
			{
				keys->refine_column = i;
				break;
			}
		}
		for (int w = 0; w < column->nwords; w++)
		{
			planes[n++] = (gs_plane) {RANGE_U64(column->words[w]), nulls, null_order};
			null_order = GS_NULLS_NONE;
		}
	}
	keys->nplanes = n;
}
