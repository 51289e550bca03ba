/*
 * reference.c
 *		The sorted order by an independent method: merge sort by comparison.
 *
 * Shares no code and no idea with the engine: rows are compared plane by plane
 * on the raw words and null flags, and moved by a top-down merge sort.
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef struct context
{
	const gs_plane *planes;
	unsigned	nplanes;
	const uint64_t *null_words;
	uint64_t   *spare;
} context;

static bool
is_null(const gs_plane *plane, uint64_t row)
{
	return plane->nulls != NULL && (plane->nulls[row / 64] >> row % 64 & 1);
}

/* null_words[p] is what a null counts as in a plane without a null order. */
int
reference_compare(const gs_plane *planes, unsigned nplanes, const uint64_t *null_words,
				  uint64_t a, uint64_t b)
{
	for (unsigned p = 0; p < nplanes; p++)
	{
		const gs_plane *plane = &planes[p];
		bool		a_null = is_null(plane, a);
		bool		b_null = is_null(plane, b);
		uint64_t	a_word = a_null ? null_words[p] : plane->words[a];
		uint64_t	b_word = b_null ? null_words[p] : plane->words[b];

		if (a_null != b_null && plane->null_order != GS_NULLS_NONE)
			return a_null == (plane->null_order == GS_NULLS_FIRST) ? -1 : 1;
		if (a_word != b_word)
			return a_word < b_word ? -1 : 1;
	}
	return 0;
}

static int
compare(const context *c, uint64_t a, uint64_t b)
{
	return reference_compare(c->planes, c->nplanes, c->null_words, a, b);
}

static void
merge_sort(const context *c, uint64_t *ids, uint64_t count)
{
	uint64_t	half = count / 2;
	uint64_t	a = 0;
	uint64_t	b = half;

	if (count < 2)
		return;
	merge_sort(c, ids, half);
	merge_sort(c, ids + half, count - half);
	if (compare(c, ids[half - 1], ids[half]) <= 0)
		return;
	for (uint64_t i = 0; i < count; i++)
	{
		bool		take_b = a == half || (b < count && compare(c, ids[b], ids[a]) < 0);

		c->spare[i] = take_b ? ids[b++] : ids[a++];
	}
	memcpy(ids, c->spare, count * sizeof(*ids));
}

static uint64_t
smallest_word(const gs_plane *plane, uint64_t nrows)
{
	uint64_t	min = UINT64_MAX;

	for (uint64_t i = 0; i < nrows; i++)
		if (!is_null(plane, i) && plane->words[i] < min)
			min = plane->words[i];
	return min;
}

void
reference_sort(uint64_t *ids, uint64_t *equal, const gs_plane *planes, unsigned nplanes,
			   uint64_t nrows)
{
	uint64_t   *null_words = malloc((nplanes + 1) * sizeof(uint64_t));
	context		c = {planes, nplanes, null_words, malloc((nrows + 1) * sizeof(uint64_t))};

	for (unsigned p = 0; p < nplanes; p++)
		null_words[p] = smallest_word(&planes[p], nrows);
	for (uint64_t i = 0; i < nrows; i++)
		ids[i] = i;
	merge_sort(&c, ids, nrows);

	memset(equal, 0, (nrows + 63) / 64 * sizeof(*equal));
	for (uint64_t i = 1; i < nrows; i++)
		if (compare(&c, ids[i - 1], ids[i]) == 0)
			equal[i / 64] |= UINT64_C(1) << i % 64;
	free(null_words);
	free(c.spare);
}
