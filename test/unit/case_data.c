/*
 * case_data.c
 *		What tests of sorting have in common: generated planes, red zones.
 */
#include <stdlib.h>
#include <string.h>

#include "case_data.h"
#include "tap.h"
#include "test_group.h"

#define RED_ZONE	64			/* bytes, before and behind */
#define RED_BYTE	0xc5

void *
guarded_data(const guarded *g)
{
	return g->base + RED_ZONE;
}

guarded
guarded_alloc(size_t bytes)
{
	guarded		g = {NULL, bytes};
	size_t		total = (bytes + 2 * RED_ZONE + 63) / 64 * 64;

	g.base = test_memory_alloc(total);
	memset(g.base, RED_BYTE, total);
	return g;
}

void
guarded_free(guarded *g)
{
	test_memory_free(g->base);
	g->base = NULL;
}

bool
guarded_intact(const guarded *g)
{
	for (size_t i = 0; i < RED_ZONE; i++)
		if (g->base[i] != RED_BYTE || g->base[RED_ZONE + g->bytes + i] != RED_BYTE)
			return false;
	return true;
}

static bool
null_drawn(null_shape shape, uint64_t row, uint64_t *state)
{
	switch (shape)
	{
		case NULLS_RARE:
			return random_word(state) % 200 == 0;
		case NULLS_HALF:
			return random_word(state) & 1;
		case NULLS_BLOCKS:
			return row / 64 % 3 == 0 || row / 32 % 7 == 0;
		case NULLS_ALMOST_ALL:
			return row != 5;
		case NULLS_ALL:
			return true;
		default:
			return false;
	}
}

/* Bits beyond the last row are set: the engine must not look at them. */
static void
nulls_fill(uint64_t *nulls, uint64_t nrows, null_shape shape, uint64_t seed)
{
	uint64_t	state = seed;

	memset(nulls, 0xff, (nrows + 63) / 64 * sizeof(*nulls));
	for (uint64_t i = 0; i < nrows; i++)
		if (!null_drawn(shape, i, &state))
			nulls[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void *
copy_of(const void *data, size_t bytes)
{
	return memcpy(malloc(bytes + 1), data, bytes);
}

void
case_data_fill(case_data *data, const sort_case *c)
{
	size_t		word_bytes = c->nrows * sizeof(uint64_t);
	size_t		null_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);

	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const case_plane *shape = &c->planes[p];
		gs_plane   *plane = &data->planes[p];

		data->words[p] = guarded_alloc(word_bytes);
		data->nulls[p] = guarded_alloc(null_bytes);
		keys_fill(guarded_data(&data->words[p]), c->nrows, shape->keys, c->seed + p);
		nulls_fill(guarded_data(&data->nulls[p]), c->nrows, shape->nulls, c->seed + p);
		plane->words = guarded_data(&data->words[p]);
		plane->nulls = shape->nulls == NULLS_ABSENT ? NULL : guarded_data(&data->nulls[p]);
		plane->null_order = shape->order;
		data->numberings[p] = guarded_alloc(shape->bytes ? sizeof(gs_numbering) : 0);
		plane->numbering = shape->bytes ? guarded_data(&data->numberings[p]) : NULL;

		data->copies[p] = *plane;
		data->copies[p].words = copy_of(plane->words, word_bytes);
		if (plane->nulls != NULL)
			data->copies[p].nulls = copy_of(plane->nulls, null_bytes);
	}
}

bool
case_data_untouched(const case_data *data, const sort_case *c)
{
	size_t		word_bytes = c->nrows * sizeof(uint64_t);
	size_t		null_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);

	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const gs_plane *plane = &data->planes[p];
		const gs_plane *copy = &data->copies[p];

		if (!guarded_intact(&data->words[p]) || !guarded_intact(&data->nulls[p]) ||
			!guarded_intact(&data->numberings[p]))
			return false;
		if (memcmp(plane->words, copy->words, word_bytes) != 0)
			return false;
		if (plane->nulls != NULL && memcmp(plane->nulls, copy->nulls, null_bytes) != 0)
			return false;
	}
	return true;
}

void
case_data_free(case_data *data, const sort_case *c)
{
	for (unsigned p = 0; p < c->nplanes; p++)
	{
		free((void *) data->copies[p].words);
		if (data->copies[p].nulls != NULL)
			free((void *) data->copies[p].nulls);
		guarded_free(&data->words[p]);
		guarded_free(&data->nulls[p]);
		guarded_free(&data->numberings[p]);
	}
}

static uint64_t
id_at(const void *ids, unsigned id_bytes, uint64_t i)
{
	return id_bytes == 4 ? ((const uint32_t *) ids)[i] : ((const uint64_t *) ids)[i];
}

uint64_t
case_first_difference(const void *ids, const uint64_t *expected, const sort_case *c)
{
	for (uint64_t i = 0; i < c->nrows; i++)
		if (id_at(ids, c->id_bytes, i) != expected[i])
			return i;
	return c->nrows;
}

void
case_describe(const sort_case *c, const char *fault)
{
	tap_note("%s is wrong: %llu rows, %u planes, ids of %u bytes, seed %llu", fault,
			 (unsigned long long) c->nrows, c->nplanes, c->id_bytes,
			 (unsigned long long) c->seed);
	for (unsigned p = 0; p < c->nplanes && p < 8; p++)
		tap_note("  plane %u: %s%s, null shape %d, null order %d", p,
				 key_shape_name(c->planes[p].keys), c->planes[p].bytes ? " as bytes" : "",
				 c->planes[p].nulls, c->planes[p].order);
}

