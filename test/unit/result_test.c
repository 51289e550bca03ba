/*
 * result_test.c
 *		What a sort reports about itself: bits, passes, refined rows, presorted.
 *
 * The numbers are derived by hand from the definition of the composite key.
 */
#include "sort_case.h"
#include "tap.h"

#define ROWS	20000

static sort_case
one_plane(key_shape shape, null_shape nulls, gs_null_order order)
{
	sort_case	c = {
		.nrows = ROWS,
		.nplanes = 1,
		.id_bytes = 4,
		.want_equal = true,
		.seed = 3,
	};

	c.planes[0] = (case_plane) {shape, nulls, order, false};
	return c;
}

static void
expect_bits(sort_case c, unsigned bits, const char *what)
{
	gs_sort_result result = {.key_bits = 9999};
	bool		passed = sort_case_passes(&c, &result);

	tap_ok(passed && result.key_bits == bits, "%s: %u bits", what, bits);
	if (result.key_bits != bits)
		tap_note("got %u", result.key_bits);
}

static void
test_bits(void)
{
	sort_case	c;

	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_ABSENT, GS_NULLS_NONE), 64, "full words");
	expect_bits(one_plane(KEYS_UNIFORM16, NULLS_ABSENT, GS_NULLS_NONE), 16, "narrow words");
	expect_bits(one_plane(KEYS_SORTED, NULLS_ABSENT, GS_NULLS_NONE), 15, "consecutive words");
	expect_bits(one_plane(KEYS_TWO_VALUES, NULLS_ABSENT, GS_NULLS_NONE), 5, "17 and 42");
	expect_bits(one_plane(KEYS_SHARED_HIGH, NULLS_ABSENT, GS_NULLS_NONE), 24, "leading bits shared");
	expect_bits(one_plane(KEYS_SHARED_LOW, NULLS_ABSENT, GS_NULLS_NONE), 24, "trailing bits shared");
	expect_bits(one_plane(KEYS_ZERO, NULLS_ABSENT, GS_NULLS_NONE), 0, "one word");
	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_HALF, GS_NULLS_FIRST), 65, "full words and nulls");
	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_HALF, GS_NULLS_NONE), 64, "nulls without an order");
	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_EMPTY, GS_NULLS_LAST), 64, "a bitmap without nulls");
	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_ALL, GS_NULLS_LAST), 0, "nulls only");
	expect_bits(one_plane(KEYS_UNIFORM64, NULLS_ALMOST_ALL, GS_NULLS_LAST), 1, "all but one null");
	c = one_plane(KEYS_UNIFORM16, NULLS_HALF, GS_NULLS_LAST);
	c.nplanes = 3;
	c.planes[1] = (case_plane) {.keys = KEYS_ZERO};
	c.planes[2] = (case_plane) {.keys = KEYS_TWO_VALUES};
	expect_bits(c, 22, "three planes");
	c.nplanes = 0;
	expect_bits(c, 0, "no planes");
}

static void
expect_order(key_shape shape, bool presorted, unsigned passes)
{
	sort_case	c = one_plane(shape, NULLS_ABSENT, GS_NULLS_NONE);
	gs_sort_result result;
	bool		passed = sort_case_passes(&c, &result);

	tap_ok(passed && result.presorted == presorted && result.passes == passes,
		   "%s: %s, %u passes", key_shape_name(shape), presorted ? "presorted" : "not presorted",
		   passes);
	if (result.presorted != presorted || result.passes != passes)
		tap_note("got presorted %d, passes %u", result.presorted, result.passes);
}

static void
test_order(void)
{
	expect_order(KEYS_ZERO, true, 0);
	expect_order(KEYS_SORTED, true, 0);
	expect_order(KEYS_SORTED_WIDE, true, 0);
	expect_order(KEYS_REVERSE, false, 0);
	expect_order(KEYS_REVERSE_WIDE, false, 0);
	expect_order(KEYS_REVERSE_TIES, false, 0);
	expect_order(KEYS_NEARLY_SORTED, false, 2);
	expect_order(KEYS_UNIFORM16, false, 2);
	expect_order(KEYS_UNIFORM64, false, 2);
	expect_order(KEYS_TWO_VALUES, false, 1);
}

/* In order on the second plane within long runs of the first. */
static void
test_presorted_runs(void)
{
	sort_case	c = one_plane(KEYS_SORTED_HALVES, NULLS_ABSENT, GS_NULLS_NONE);
	gs_sort_result result = {.presorted = false};
	bool		passed;

	c.nplanes = 2;
	c.planes[1].keys = KEYS_SORTED_WIDE;
	passed = sort_case_passes(&c, &result);
	tap_ok(passed && result.presorted && result.refined_rows == ROWS, "presorted runs");
	c.planes[1].keys = KEYS_UNIFORM64;
	passed = sort_case_passes(&c, &result);
	tap_ok(passed && !result.presorted, "runs that are not presorted");
}

/* Ties on the first plane need the second; the leading 49 bits decide most. */
static void
test_refined(void)
{
	sort_case	c = one_plane(KEYS_EXTREMES, NULLS_ABSENT, GS_NULLS_NONE);
	gs_sort_result result = {.refined_rows = 0};
	bool		passed;

	c.nplanes = 2;
	c.planes[1].keys = KEYS_UNIFORM64;
	passed = sort_case_passes(&c, &result);
	tap_ok(passed && result.refined_rows == ROWS, "all rows tie on the first section");
	c.planes[0].keys = KEYS_UNIFORM64;
	passed = sort_case_passes(&c, &result);
	tap_ok(passed && result.refined_rows == 0, "no row ties on 49 random bits");
	c.nplanes = 1;
	c.planes[0].keys = KEYS_UNIFORM40;
	passed = sort_case_passes(&c, &result);
	tap_ok(passed && result.refined_rows == 0, "no row ties when the section is the key");
}

int
main(void)
{
	test_bits();
	test_order();
	test_presorted_runs();
	test_refined();
	return tap_finish();
}
