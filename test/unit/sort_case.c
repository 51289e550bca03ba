/*
 * sort_case.c
 *		One call of gs_sort() on generated planes, checked in every respect.
 *
 * The expected order is computed from copies of the planes before the engine
 * runs.  Everything the engine gets lies between red zones, lines of a known
 * pattern that must be intact afterwards; sizes are exact, so that a sanitizer
 * sees reads outside as well.
 */
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "sort_case.h"
#include "tap.h"

#define RED_ZONE	64			/* bytes, before and behind */
#define RED_BYTE	0xc5

typedef struct guarded
{
	unsigned char *base;
	size_t		bytes;
} guarded;

static void *
guarded_data(const guarded *g)
{
	return g->base + RED_ZONE;
}

static guarded
guarded_alloc(size_t bytes)
{
	guarded		g = {NULL, bytes};
	size_t		total = (bytes + 2 * RED_ZONE + 63) / 64 * 64;

	g.base = aligned_alloc(64, total);
	memset(g.base, RED_BYTE, total);
	return g;
}

static bool
red_zones_intact(const guarded *g)
{
	for (size_t i = 0; i < RED_ZONE; i++)
		if (g->base[i] != RED_BYTE || g->base[RED_ZONE + g->bytes + i] != RED_BYTE)
			return false;
	return true;
}

/* The planes, twice: what the engine sees, and what it should have seen. */
typedef struct inputs
{
	guarded		words[CASE_MAX_PLANES];
	guarded		nulls[CASE_MAX_PLANES];
	gs_plane	planes[CASE_MAX_PLANES];
	gs_plane	copies[CASE_MAX_PLANES];
} inputs;

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

static void
inputs_fill(inputs *in, const sort_case *c)
{
	size_t		word_bytes = c->nrows * sizeof(uint64_t);
	size_t		null_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);

	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const case_plane *shape = &c->planes[p];
		gs_plane   *plane = &in->planes[p];

		in->words[p] = guarded_alloc(word_bytes);
		in->nulls[p] = guarded_alloc(null_bytes);
		keys_fill(guarded_data(&in->words[p]), c->nrows, shape->keys, c->seed + p);
		nulls_fill(guarded_data(&in->nulls[p]), c->nrows, shape->nulls, c->seed + p);
		plane->words = guarded_data(&in->words[p]);
		plane->nulls = shape->nulls == NULLS_ABSENT ? NULL : guarded_data(&in->nulls[p]);
		plane->null_order = shape->order;

		in->copies[p] = *plane;
		in->copies[p].words = copy_of(plane->words, word_bytes);
		if (plane->nulls != NULL)
			in->copies[p].nulls = copy_of(plane->nulls, null_bytes);
	}
}

static bool
inputs_untouched(const inputs *in, const sort_case *c)
{
	size_t		word_bytes = c->nrows * sizeof(uint64_t);
	size_t		null_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);

	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const gs_plane *plane = &in->planes[p];
		const gs_plane *copy = &in->copies[p];

		if (!red_zones_intact(&in->words[p]) || !red_zones_intact(&in->nulls[p]))
			return false;
		if (memcmp(plane->words, copy->words, word_bytes) != 0)
			return false;
		if (plane->nulls != NULL && memcmp(plane->nulls, copy->nulls, null_bytes) != 0)
			return false;
	}
	return true;
}

static void
inputs_free(inputs *in, const sort_case *c)
{
	for (unsigned p = 0; p < c->nplanes; p++)
	{
		free((void *) in->copies[p].words);
		if (in->copies[p].nulls != NULL)
			free((void *) in->copies[p].nulls);
		free(in->words[p].base);
		free(in->nulls[p].base);
	}
}

static uint64_t
id_at(const void *ids, unsigned id_bytes, uint64_t i)
{
	return id_bytes == 4 ? ((const uint32_t *) ids)[i] : ((const uint64_t *) ids)[i];
}

/* The first position whose id is not the expected one, or nrows. */
static uint64_t
first_difference(const gs_sort_result *result, const uint64_t *expected, const sort_case *c)
{
	for (uint64_t i = 0; i < c->nrows; i++)
		if (id_at(result->ids, c->id_bytes, i) != expected[i])
			return i;
	return c->nrows;
}

static bool
ids_inside(const gs_sort_result *result, const guarded *workspace, const sort_case *c)
{
	const unsigned char *begin = result->ids;
	const unsigned char *data = guarded_data(workspace);

	return begin >= data && begin + c->nrows * c->id_bytes <= data + workspace->bytes;
}

/* NULL if all is well. */
static const char *
find_fault(const sort_case *c, const inputs *in, const uint64_t *expected_ids,
		   const uint64_t *expected_equal, gs_sort_result *result)
{
	size_t		equal_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);
	guarded		workspace = guarded_alloc(gs_sort_workspace_bytes(c->nrows));
	guarded		equal = guarded_alloc(equal_bytes);
	const char *fault = NULL;
	gs_sort_args args = {
		.nrows = c->nrows,
		.nplanes = c->nplanes,
		.planes = in->planes,
		.id_bytes = c->id_bytes,
		.workspace = guarded_data(&workspace),
		.workspace_bytes = workspace.bytes,
		.equal = c->want_equal ? guarded_data(&equal) : NULL,
	};

	if (gs_sort(&args, result) != GS_OK)
		fault = "status";
	else if (!ids_inside(result, &workspace, c))
		fault = "ids outside of the workspace";
	else if (first_difference(result, expected_ids, c) < c->nrows)
		fault = "order";
	else if (c->want_equal && memcmp(guarded_data(&equal), expected_equal, equal_bytes) != 0)
		fault = "equal bitmap";
	else if (!red_zones_intact(&workspace) || !red_zones_intact(&equal))
		fault = "red zones";
	else if (!inputs_untouched(in, c))
		fault = "planes changed";
	free(workspace.base);
	free(equal.base);
	return fault;
}

static void
describe(const sort_case *c, const char *fault)
{
	tap_note("%s is wrong: %llu rows, %u planes, ids of %u bytes, seed %llu", fault,
			 (unsigned long long) c->nrows, c->nplanes, c->id_bytes,
			 (unsigned long long) c->seed);
	for (unsigned p = 0; p < c->nplanes && p < 8; p++)
		tap_note("  plane %u: %s, null shape %d, null order %d", p,
				 key_shape_name(c->planes[p].keys), c->planes[p].nulls, c->planes[p].order);
}

bool
sort_case_passes(const sort_case *c, gs_sort_result *result)
{
	inputs	   *in = calloc(1, sizeof(*in));
	uint64_t   *ids = malloc((c->nrows + 1) * sizeof(uint64_t));
	uint64_t   *equal = malloc((c->nrows + 64) / 64 * sizeof(uint64_t));
	gs_sort_result own_result;
	const char *fault;

	inputs_fill(in, c);
	reference_sort(ids, equal, in->copies, c->nplanes, c->nrows);
	fault = find_fault(c, in, ids, equal, result != NULL ? result : &own_result);
	if (fault != NULL)
		describe(c, fault);
	inputs_free(in, c);
	free(in);
	free(ids);
	free(equal);
	return fault == NULL;
}
