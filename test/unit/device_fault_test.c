/*
 * device_fault_test.c
 *		Sorting on devices that are late, fail, or are told to stop.
 *
 * Late ones are those of lazy_device.h: the result must not depend on the order in
 * which devices get around to their work.  A failure is injected into every
 * operation of a sort in turn, but for some of those of many rounds, and a sort is
 * cancelled at any time; all memory must come back, and the next sort must do.  With
 * --small only some of them.
 *
 * Devices that damage rows, in one operation after the other and in every way, must be
 * found out: no result is wrong, and hardly any damage does not matter.
 */
#include <string.h>

#include "device_case.h"
#include "engine/simulated/gs_simulated_device.h"
#include "lazy_device.h"
#include "tap.h"
#include "test_group.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define ARENA_BYTES	((size_t) 2 << 20)

#define SHORT_PARTS	(GS_SEGMENT_SHIFT + 3)

static bool small_run;

/*
 * The next operation to try: each of the first ones, which are those of a sort in a round or two;
 * then every fifth, as more rounds repeat them, and a round has not the same number again.
 */
#define FIRST_OPERATIONS	150

static uint64_t
next_operation(uint64_t nth, uint64_t small_step)
{
	return nth + (small_run ? small_step : nth < FIRST_OPERATIONS ? 1 : 5);
}

static sort_case
make_case(key_shape first, unsigned nplanes, null_shape nulls, uint64_t nrows)
{
	sort_case	c = {
		.nrows = nrows,
		.nplanes = nplanes,
		.id_bytes = 4,
		.want_equal = true,
		.seed = nrows,
	};

	for (unsigned p = 0; p < nplanes; p++)
		c.planes[p] = (case_plane) {
			.keys = p == 0 ? first : p == 1 ? KEYS_EXTREMES : KEYS_UNIFORM16,
			.nulls = p == 0 ? nulls : NULLS_ABSENT,
			.order = GS_NULLS_LAST,
			.bytes = p == 0 && (first == KEYS_HEX || first == KEYS_NAMES),
		};
	return c;
}

/* One sort of everything that there is to a sort. */
typedef struct situation
{
	const char *name;
	key_shape	keys;
	unsigned	nplanes;
	null_shape	nulls;
	uint64_t	nrows;
	device_setup setup;
	unsigned	devices;
	gs_device_options options;
} situation;

static const situation situations[] = {
	{"one device", KEYS_UNIFORM64, 1, NULLS_ABSENT, 5000, {0}, 1, {.bucket_rows = 1000}},
	{"a few rows", KEYS_UNIFORM64, 1, NULLS_ABSENT, 900, {0}, 1, {0}},
	{"strings", KEYS_HEX, 1, NULLS_ABSENT, 5000, {.feed = FEED_SOME}, 2,
	{.device_rows = 1000, .bucket_rows = 1000}},
	{"equal keys", KEYS_ZERO, 1, NULLS_ABSENT, 4000, {0}, 2,
	{.device_rows = 1000, .bucket_rows = 1000}},
	{"three devices, stores", KEYS_ZIPF1, 1, NULLS_ABSENT, 5000, {.feed = FEED_SOME}, 3,
	{.device_rows = 1, .bucket_rows = 700}},
	{"three devices, copies", KEYS_ZIPF1, 1, NULLS_ABSENT, 5000, {.span_shift = SHORT_PARTS}, 3,
	{.device_rows = 1, .bucket_rows = 700, .exchange = GS_EXCHANGE_COPY}},
	{"two values, four devices", KEYS_TWO_VALUES, 1, NULLS_RARE, 6000, {.feed = FEED_AGAIN}, 4,
	{.device_rows = 1, .bucket_rows = 300}},
	{"a cluster", KEYS_CLUSTER, 1, NULLS_ABSENT, 5000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 500}},
	{"a cluster in a first bucket", KEYS_CLUSTER, 1, NULLS_ABSENT, 9000, {0}, 3,
	{.device_rows = 1, .bucket_rows = 500}},
	{"a cluster, two planes", KEYS_CLUSTER, 2, NULLS_ABSENT, 9000, {0}, 1,
	{.bucket_rows = 500}},
	{"a cluster, rounds", KEYS_CLUSTER, 1, NULLS_ABSENT, 9000, {.feed = FEED_ALL}, 2,
	{.device_rows = 1, .bucket_rows = 900, .memory_bytes = 180000}},
	{"many rounds", KEYS_UNIFORM64, 1, NULLS_ABSENT, 9000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 200, .memory_bytes = 135000}},
	{"rounds, stores", KEYS_UNIFORM40, 1, NULLS_HALF, 9000, {.span_shift = SHORT_PARTS}, 2,
	{.device_rows = 1, .bucket_rows = 900, .memory_bytes = 180000}},
	{"rounds, copies", KEYS_UNIFORM40, 1, NULLS_ABSENT, 9000, {.feed = FEED_ALL}, 2,
	{.device_rows = 1, .bucket_rows = 900, .memory_bytes = 180000, .exchange = GS_EXCHANGE_COPY}},
	{"equal keys cut between rounds, copies", KEYS_TWO_VALUES, 1, NULLS_ABSENT, 9000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 900, .memory_bytes = 180000, .exchange = GS_EXCHANGE_COPY}},
	{"a guess", KEYS_UNIFORM64, 1, NULLS_ABSENT, 30000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 2000, .guess_rows = 1, .lean = true}},
	{"a guess, one device", KEYS_UNIFORM64, 1, NULLS_ABSENT, 30000, {0}, 1,
	{.bucket_rows = 3000, .guess_rows = 1, .lean = true}},
	{"a lean guess", KEYS_UNIFORM64, 1, NULLS_ABSENT, 30000, {.span_shift = SHORT_PARTS}, 1,
	{.bucket_rows = 3000, .guess_rows = 1, .lean = true, .memory_bytes = 900000}},
	{"a lean guess, two devices", KEYS_UNIFORM64, 1, NULLS_ABSENT, 60000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 3000, .guess_rows = 1, .lean = true, .memory_bytes = 900000}},
	{"parked rows", KEYS_UNIFORM64, 1, NULLS_ABSENT, 75000, {.park_rows = 75000}, 1,
	{.bucket_rows = 3000, .guess_rows = 1, .lean = true, .memory_bytes = 800000}},
	{"parked rows, two devices", KEYS_UNIFORM64, 1, NULLS_ABSENT, 80000, {.park_rows = 80000}, 2,
	{.device_rows = 1, .bucket_rows = 3000, .guess_rows = 1, .lean = true, .memory_bytes = 600000}},
	{"wide keys", KEYS_EXTREMES, 4, NULLS_RARE, 3000, {0}, 2,
	{.device_rows = 1, .bucket_rows = 300}},
	{"wide keys, rounds", KEYS_UNIFORM8, 4, NULLS_RARE, 9000, {.feed = FEED_ALL}, 2,
	{.device_rows = 1, .bucket_rows = 900, .memory_bytes = 230000}},
};

static sort_case
case_of(const situation *s)
{
	return make_case(s->keys, s->nplanes, s->nulls, s->nrows);
}

/* The situation as planned: otherwise it would test something else. */
static bool
as_planned(const situation *s, const gs_device_result *result)
{
	bool		long_run = s->keys == KEYS_CLUSTER && s->nrows / KEYS_CLUSTER_EVERY > GS_LONG_RUN;

	return (result->rounds > 1) == (s->options.memory_bytes != 0 && s->options.guess_rows == 0) &&
		(result->parked_rows > 0) == (s->setup.park_rows > 0) && result->devices == s->devices && result->guessed == (s->options.guess_rows != 0) &&
		(result->resorted_rows > 0) == long_run &&
		(result->refined_rows > 0) == (s->nplanes == 4);
}

/* Orders of work that differ by seed. */
static void
test_late(const situation *s)
{
	sort_case	c = case_of(s);
	prepared_case *prepared = case_prepare(&c);
	bool		passed = true;

	for (uint64_t seed = 1; seed <= (small_run ? 10 : 80) && passed; seed++)
	{
		lazy_group *lazy = lazy_group_open(s->devices, ARENA_BYTES, seed);
		gs_group   *group = lazy_group_of(lazy);
		gs_device_result result;
		const char *fault;

		group->options = s->options;
		passed = device_case_passes(prepared, group, &s->setup, &result);
		fault = lazy_group_fault(lazy);
		if (fault == NULL && passed && !as_planned(s, &result))
			fault = "not as planned";
		if (fault != NULL)
			tap_note("seed %d: %s", (int) seed, fault);
		passed &= fault == NULL;
		lazy_group_close(lazy);
	}
	case_release(prepared);
	tap_ok(passed, "%s: late devices", s->name);
}

/*
 * The nth operation of a device fails, n = 1, 2, ... until none does.  Returns
 * the last one that did.
 */
static uint64_t
fail_device(const situation *s, const prepared_case *prepared, unsigned device, bool *passed)
{
	const device_setup plain = {.span_shift = 0};
	uint64_t	nth = 0;
	uint64_t	before = 0;
	uint64_t	tried = 0;
	gs_status	status = GS_DEVICE_ERROR;

	while (status != GS_OK && *passed && nth < 100000)
	{
		gs_group   *group;
		gs_device_result result;
		const char *fault;

		before = nth;
		nth = next_operation(nth, 7);
		group = test_group_open_failing(s->devices, ARENA_BYTES, device, nth);
		group->options = s->options;
		status = device_case_run(prepared, group, &s->setup, NULL, &result, &fault);
		if (fault != NULL || (status != GS_OK && status != GS_DEVICE_ERROR))
		{
			tap_note("operation %llu of device %u fails: %s", (unsigned long long) nth, device,
					 fault != NULL ? fault : gs_status_text(status));
			*passed = false;
		}
		if (++tried % 4 == 0)
			*passed = *passed && device_case_passes(prepared, group, &plain, NULL);
		test_group_close(group);
	}
	return before;
}

/*
 * Fewer operations fail than there are when an error can be overcome: rows that
 * could not be uploaded ahead are uploaded later.
 */
static void
test_failures(const situation *s)
{
	sort_case	c = case_of(s);
	prepared_case *prepared = case_prepare(&c);
	bool		passed = true;
	uint64_t	operations = 0;

	if (s->setup.feed == FEED_NOTHING)
		for (unsigned d = 0; d < s->devices; d += s->devices > 1 ? s->devices - 1 : 1)
			operations += fail_device(s, prepared, d, &passed);
	tap_ok(passed && (operations > 0 || s->setup.feed != FEED_NOTHING), "%s: failing devices",
		   s->name);
	case_release(prepared);
}

/* A failure while rows are fed must not be one of the sort. */
static void
test_feed_failures(void)
{
	sort_case	c = make_case(KEYS_UNIFORM64, 1, NULLS_ABSENT, 9000);
	prepared_case *prepared = case_prepare(&c);
	device_setup setup = {.feed = FEED_ALL};
	bool		passed = true;

	/* four operations for each of a device's four full segments */
	for (uint64_t nth = 1; nth <= 16 && (9000 >> GS_SEGMENT_SHIFT) >= 8; nth++)
	{
		gs_group   *group = test_group_open_failing(2, ARENA_BYTES, 0, nth);

		group->options = (gs_device_options) {.device_rows = 1, .bucket_rows = 300};
		passed &= device_case_passes(prepared, group, &setup, NULL);
		test_group_close(group);
	}
	case_release(prepared);
	tap_ok(passed, "failures while rows are fed");
}

/* Cancelled at one call of a device after the other. */
static void
test_cancel(const situation *s)
{
	sort_case	c = case_of(s);
	prepared_case *prepared = case_prepare(&c);
	lazy_group *lazy = lazy_group_open(s->devices, ARENA_BYTES, 7);
	gs_group   *group = lazy_group_of(lazy);
	uint64_t	cancelled = 0;
	gs_status	status = GS_CANCELLED;
	const char *fault = NULL;

	group->options = s->options;
	for (uint64_t nth = 1; fault == NULL; nth = next_operation(nth, 11))
	{
		volatile int cancel = 0;
		gs_device_result result;

		lazy_group_set_at(lazy, &cancel, nth);
		status = device_case_run(prepared, group, &s->setup, &cancel, &result, &fault);
		if (fault == NULL)
			fault = lazy_group_fault(lazy);
		if (status != GS_CANCELLED && status != GS_OK)
			fault = gs_status_text(status);
		cancelled += status == GS_CANCELLED;
		if (!cancel)
			break;
	}
	if (fault != NULL)
		tap_note("cancelled: %s", fault);
	tap_ok(fault == NULL && cancelled > 0 && status == GS_OK, "%s: cancelled", s->name);
	lazy_group_close(lazy);
	case_release(prepared);
}

/* What became of sorts by devices that damaged rows. */
typedef struct damage_counts
{
	unsigned	sorts;
	unsigned	found;			/* and not only harmless */
	bool		passed;
} damage_counts;

/* A sort in which a device damages rows once; false if there was nothing to damage. */
static bool
damage_rows(const situation *s, const prepared_case *prepared, gs_damage damage, unsigned device,
			uint64_t nth, damage_counts *counts)
{
	gs_group   *group = test_group_open(s->devices, ARENA_BYTES);
	const char *fault;
	gs_device_result result;
	gs_status	status;
	bool		spoilt;

	group->options = s->options;
	gs_simulated_device_spoil(group->devices[device], damage, nth, 0);
	status = device_case_run(prepared, group, &s->setup, NULL, &result, &fault);
	spoilt = gs_simulated_device_spoilt(group->devices[device]) > 0;
	counts->sorts += spoilt;
	counts->found += status == GS_DEVICE_WRONG;
	if (fault != NULL || status != (spoilt && status != GS_OK ? GS_DEVICE_WRONG : GS_OK))
	{
		tap_note("damage %d in operation %d of device %u: %s", (int) damage, (int) nth, device,
				 fault != NULL ? fault : gs_status_text(status));
		counts->passed = false;
	}
	test_group_close(group);
	return spoilt;
}

/*
 * What is swapped, or a lower bit of a key that is different, before rows are sorted may
 * be put right by the sort; so may a key whose bit was not looked at any more.
 */
static void
test_damage(const situation *s)
{
	sort_case	c = case_of(s);
	prepared_case *prepared = case_prepare(&c);
	damage_counts counts = {0, 0, true};

	for (int damage = GS_DAMAGE_NONE + 1; damage < GS_DAMAGES; damage++)
		for (unsigned d = 0; d < s->devices; d++)
			for (uint64_t nth = 1; damage_rows(s, prepared, (gs_damage) damage, d, nth, &counts);)
				nth += small_run ? 3 : 1;
	tap_ok(counts.passed && counts.found >= counts.sorts / 2, "%s: damaged rows", s->name);
	tap_note("%u of %u found", counts.found, counts.sorts);
	case_release(prepared);
}

/* A small sort costs what its operations cost: there must be few. */
static void
test_operations(void)
{
	sort_case	c = make_case(KEYS_UNIFORM64, 1, NULLS_ABSENT, 900);
	prepared_case *prepared;
	situation	s = situations[1];
	bool		passed = true;
	uint64_t	operations;

	c.want_equal = false;
	prepared = case_prepare(&c);
	operations = fail_device(&s, prepared, 0, &passed);
	tap_ok(passed && operations <= 32, "few operations for a few rows");
	tap_note("%llu operations", (unsigned long long) operations);
	case_release(prepared);
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	for (size_t i = 0; i < LENGTH(situations); i++)
	{
		test_late(&situations[i]);
		test_failures(&situations[i]);
		test_cancel(&situations[i]);
		test_damage(&situations[i]);
	}
	test_feed_failures();
	test_operations();
	return tap_finish();
}
