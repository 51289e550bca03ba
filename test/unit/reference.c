/*
 * reference.c
 *		The sorted order by an independent method: merge sort by comparison.
 *
 * Shares no code and no idea with the engine: rows are compared plane by plane
 * on the raw words and null flags, and moved by a top-down merge sort.  What is
 * merged has the first plane's word and whether it is null beside the row's
 * number, as most of a test's time would be spent on looking them up.
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef struct context
{
	const gs_plane *planes;
	unsigned	nplanes;
	const uint64_t *null_words;
	struct item *spare;
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

/* A row, and how the first plane orders it. */
typedef struct item
{
	unsigned	rank;			/* of nulls and words */
	uint64_t	word;
	uint64_t	row;
} item;

static item
make_item(const context *c, uint64_t row)
{
	item		made = {.rank = 1, .row = row};

	if (c->nplanes == 0)
		return made;
	if (!is_null(c->planes, row))
		made.word = c->planes->words[row];
	else if (c->planes->null_order == GS_NULLS_NONE)
		made.word = c->null_words[0];
	else
		made.rank = c->planes->null_order == GS_NULLS_FIRST ? 0 : 2;
	return made;
}

static int
compare(const context *c, const item *a, const item *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->word != b->word)
		return a->word < b->word ? -1 : 1;
	return c->nplanes < 2 ? 0
		: reference_compare(c->planes + 1, c->nplanes - 1, c->null_words + 1, a->row, b->row);
}

static void
merge_sort(const context *c, item *items, uint64_t count)
{
	uint64_t	half = count / 2;
	uint64_t	a = 0;
	uint64_t	b = half;
	uint64_t	i = 0;

	if (count < 2)
		return;
	merge_sort(c, items, half);
	merge_sort(c, items + half, count - half);
	if (compare(c, &items[half - 1], &items[half]) <= 0)
		return;
	/* what is left of the second half is in its place */
	memcpy(c->spare, items, half * sizeof(*items));
	while (a < half && b < count)
	{
		bool		take_b = compare(c, &items[b], &c->spare[a]) < 0;

		items[i++] = take_b ? items[b] : c->spare[a];
		a += !take_b;
		b += take_b;
	}
	memcpy(items + i, c->spare + a, (half - a) * sizeof(*items));
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
	item	   *items = malloc((nrows + 1) * sizeof(item));
	context		c = {planes, nplanes, null_words, malloc((nrows / 2 + 1) * sizeof(item))};

	for (unsigned p = 0; p < nplanes; p++)
		null_words[p] = smallest_word(&planes[p], nrows);
	for (uint64_t i = 0; i < nrows; i++)
		items[i] = make_item(&c, i);
	merge_sort(&c, items, nrows);

	memset(equal, 0, (nrows + 63) / 64 * sizeof(*equal));
	for (uint64_t i = 0; i < nrows; i++)
	{
		ids[i] = items[i].row;
		if (i > 0 && compare(&c, &items[i - 1], &items[i]) == 0)
			equal[i / 64] |= UINT64_C(1) << i % 64;
	}
	free(null_words);
	free(items);
	free(c.spare);
}
