/*
 * sort_test.c
 *		gs_sort() against the reference over sizes, shapes, planes and nulls.
 *
 * Of large sizes every shape has one, of other shapes another one.  With --small, for runs under
 * sanitizers and with the constants of sort_test_tiny, large sizes, part of the random cases, and of
 * each shape some of the medium sizes, of other shapes others, are left out.
 */
#include <string.h>

#include "engine/gs_layout.h"
#include "sort_case.h"
#include "tap.h"

static const uint64_t small_sizes[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 49, 63, 64, 65, 100, 127, 128,
	129, 255, 256, 257, 300, 511, 512, 513, 777, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095,
	4096, 4097, 8191, 8193,
};

static const uint64_t medium_sizes[] = {16383, 16384, 19997, 20000, 20003, 65535, 65536, 65537};

static const uint64_t large_sizes[] = {131071, 200003};

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

static bool small_run;

/* A case of one plane without nulls. */
static sort_case
plain_case(key_shape shape, uint64_t nrows)
{
	sort_case	c = {
		.nrows = nrows,
		.nplanes = 1,
		.id_bytes = 4,
		.want_equal = true,
		.seed = nrows + 1,
	};

	c.planes[0].keys = shape;
	return c;
}

/* Every shape at every size: one plane, two planes, and with nulls. */
static bool
sizes_pass(key_shape shape, const uint64_t *sizes, size_t nsizes)
{
	bool		passed = true;

	for (size_t i = 0; i < nsizes; i++)
	{
		sort_case	c = plain_case(shape, sizes[i]);

		passed &= sort_case_passes(&c, NULL);
		c.id_bytes = 8;
		c.want_equal = false;
		c.planes[0].nulls = NULLS_RARE;
		c.planes[0].order = GS_NULLS_FIRST;
		passed &= sort_case_passes(&c, NULL);
		c.nplanes = 2;
		c.want_equal = true;
		c.planes[0].order = GS_NULLS_LAST;
		c.planes[1].keys = (key_shape) ((shape + 7) % KEY_SHAPES);
		passed &= sort_case_passes(&c, NULL);
	}
	return passed;
}

static void
test_sizes(void)
{
	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		const char *name = key_shape_name((key_shape) shape);
		size_t		nmedium = small_run ? 3 : LENGTH(medium_sizes);
		size_t		first = (size_t) shape % (LENGTH(medium_sizes) - nmedium + 1);

		tap_ok(sizes_pass((key_shape) shape, small_sizes, LENGTH(small_sizes)),
			   "%s, small sizes", name);
		tap_ok(sizes_pass((key_shape) shape, medium_sizes + first, nmedium),
			   "%s, medium sizes", name);
		if (!small_run)
			tap_ok(sizes_pass((key_shape) shape, large_sizes + shape % LENGTH(large_sizes), 1),
				   "%s, a large size", name);
	}
}

/* So many rows that they are distributed over buckets, if that pays for their keys. */
static void
test_buckets(void)
{
	static const key_shape shapes[] = {KEYS_UNIFORM62, KEYS_NORMAL, KEYS_AND4, KEYS_OUTLIER};

	for (size_t i = 0; i < LENGTH(shapes); i++)
	{
		sort_case	c = plain_case(shapes[i], 1200007);

		c.planes[0].nulls = NULLS_RARE;
		c.planes[0].order = i % 2 == 0 ? GS_NULLS_LAST : GS_NULLS_FIRST;
		tap_ok(sort_case_passes(&c, NULL), "%s, buckets", key_shape_name(shapes[i]));
	}
}

/* Every null shape with every order, beside a plane without nulls. */
static void
test_nulls(void)
{
	for (int nulls = 0; nulls < NULL_SHAPES; nulls++)
		for (int order = GS_NULLS_NONE; order <= GS_NULLS_LAST; order++)
		{
			static const uint64_t sizes[] = {1, 2, 5, 63, 64, 65, 1000, 30001};
			static const key_shape keys[] = {KEYS_UNIFORM64, KEYS_EXTREMES, KEYS_ZERO};
			bool		passed = true;

			for (size_t i = 0; i < LENGTH(sizes) * LENGTH(keys); i++)
			{
				sort_case	c = plain_case(keys[i % LENGTH(keys)], sizes[i / LENGTH(keys)]);

				c.planes[0].nulls = (null_shape) nulls;
				c.planes[0].order = (gs_null_order) order;
				passed &= sort_case_passes(&c, NULL);
				c.nplanes = 2;
				c.planes[1] = c.planes[0];
				c.planes[0].keys = KEYS_TWO_VALUES;
				passed &= sort_case_passes(&c, NULL);
			}
			tap_ok(passed, "null shape %d, null order %d", nulls, order);
		}
}

/* Many planes: keys of hundreds of bits that tie until late. */
static void
test_many_planes(void)
{
	static const unsigned counts[] = {3, 5, 8, 20, 64, GS_MAX_PLANES};

	for (size_t i = 0; i < LENGTH(counts); i++)
	{
		sort_case	c = plain_case(KEYS_TWO_VALUES, counts[i] > 20 ? 300 : 5000);
		bool		passed = true;

		c.nplanes = counts[i];
		for (unsigned p = 0; p < c.nplanes; p++)
			c.planes[p] = (case_plane) {
				.keys = p % 3 == 0 ? KEYS_EXTREMES : KEYS_ZERO,
				.nulls = p % 5 == 4 ? NULLS_RARE : NULLS_ABSENT,
				.order = GS_NULLS_LAST,
			};
		passed &= sort_case_passes(&c, NULL);
		c.planes[c.nplanes - 1].keys = KEYS_UNIFORM64;
		passed &= sort_case_passes(&c, NULL);
		for (unsigned p = 0; p < c.nplanes; p++)
			c.planes[p].keys = p + 1 < c.nplanes ? KEYS_EXTREMES : KEYS_REVERSE;
		passed &= sort_case_passes(&c, NULL);
		tap_ok(passed, "%u planes", counts[i]);
	}
}

/* Strings, which are numbered: how many bits are left, and the order by them. */
static void
test_bytes(void)
{
	static const struct
	{
		key_shape	keys;
		uint64_t	nrows;
		unsigned	key_bits;
	}			cases[] = {
		{KEYS_HEX, 4095, GS_NUMBERING_MIN_ROWS > 4095 ? 62 : 32}, {KEYS_HEX, 4096, 32}, {KEYS_HEX, 300000, 32},
		{KEYS_NAMES, 4096, 39}, {KEYS_NAMES, 300000, 39}, {KEYS_UNIFORM64, 300000, 64},
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		sort_case	c = plain_case(cases[i].keys, cases[i].nrows);
		gs_sort_result result = {.key_bits = 0};
		bool		passed;

		c.planes[0].bytes = true;
		passed = sort_case_passes(&c, &result) && result.key_bits == cases[i].key_bits;
		for (int nulls = 0; nulls < NULL_SHAPES; nulls++)
		{
			c.want_equal = true;
			c.nplanes = 2;
			c.planes[1] = c.planes[0];
			c.planes[1].nulls = NULLS_ABSENT;
			c.planes[0].nulls = (null_shape) nulls;
			c.planes[0].order = GS_NULLS_FIRST;
			passed &= sort_case_passes(&c, NULL);
		}
		tap_ok(passed, "%s as bytes, %u rows", key_shape_name(cases[i].keys),
			   (unsigned) cases[i].nrows);
	}
}

static sort_case
random_case(uint64_t *state, uint64_t max_rows)
{
	sort_case	c = {.seed = random_word(state)};

	c.nrows = random_word(state) % (max_rows >> random_word(state) % 10) + 1;
	c.nplanes = 1 + random_word(state) % 5;
	c.id_bytes = random_word(state) & 1 ? 4 : 8;
	c.want_equal = random_word(state) & 1;
	for (unsigned p = 0; p < c.nplanes; p++)
	{
		c.planes[p].keys = (key_shape) (random_word(state) % KEY_SHAPES);
		c.planes[p].nulls = random_word(state) & 1 ? NULLS_ABSENT
			: (null_shape) (random_word(state) % NULL_SHAPES);
		c.planes[p].order = (gs_null_order) (random_word(state) % 3);
		c.planes[p].bytes = random_word(state) % 3 == 0;
	}
	return c;
}

static void
test_random(void)
{
	uint64_t	state = 20250101;

	for (int batch = 0; batch < (small_run ? 10 : 20); batch++)
	{
		bool		passed = true;

		for (int i = 0; i < 40; i++)
		{
			sort_case	c = random_case(&state, 40000);

			passed &= sort_case_passes(&c, NULL);
		}
		tap_ok(passed, "random cases, batch %d", batch);
	}
}

/*
 * The only tie lies where the engine pauses to look at the cancel flag, and
 * the second plane would turn it round.
 */
static void
test_lone_tie(void)
{
	sort_case	c = plain_case(KEYS_SORTED_TIE, 70000);

	c.nplanes = 3;
	c.planes[1].keys = KEYS_EXTREMES;
	c.planes[2].keys = KEYS_REVERSE;
	tap_ok(sort_case_passes(&c, NULL), "a tie between rows 65535 and 65536");
	c.nplanes = 4;
	c.planes[1].keys = KEYS_SORTED_TIE;
	c.planes[2].keys = KEYS_SORTED_TIE;
	c.planes[3].keys = KEYS_REVERSE;
	tap_ok(sort_case_passes(&c, NULL), "the same beyond the first section");
}

static void
test_large(void)
{
	static const key_shape shapes[] = {
		KEYS_UNIFORM62, KEYS_NORMAL, KEYS_ZIPF1, KEYS_OUTLIER, KEYS_REVERSE_TIES, KEYS_SPREAD16,
	};

	for (size_t i = 0; i < LENGTH(shapes) && !small_run; i++)
	{
		sort_case	c = plain_case(shapes[i], UINT64_C(1000003));

		tap_ok(sort_case_passes(&c, NULL), "%s, a million rows", key_shape_name(shapes[i]));
	}
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	test_sizes();
	if (!small_run)
		test_buckets();
	test_nulls();
	test_bytes();
	test_many_planes();
	test_lone_tie();
	test_random();
	test_large();
	return tap_finish();
}
