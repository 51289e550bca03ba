/*
 * device_test.c
 *		Sorting on groups of devices against the reference.
 *
 * Runs on whatever devices test_group.h stands for.  Options are so small that a
 * few thousand rows take part in everything: several devices, buckets,
 * rounds.  With --small, for runs under sanitizers, part of the cases is left
 * out.
 */
#include <string.h>

#include "device_case.h"
#include "engine/gs_engine.h"
#include "tap.h"
#include "test_group.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define ARENA_BYTES	((size_t) 64 << 20)

static const unsigned group_sizes[] = {1, 2, 3, 4, 5, 8, 16};

/* One for each of the group sizes; NULL where there are not as many devices. */
static gs_group *groups[LENGTH(group_sizes)];

static bool small_run;

static const gs_device_options tiny_options = {.device_rows = 1, .bucket_rows = 500, .lean = true};

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

/* A case on all groups, exchanging in both ways. */
static bool
passes_everywhere(const sort_case *c, const device_setup *setup, gs_device_options options)
{
	prepared_case *prepared = case_prepare(c);
	bool		passed = true;

	for (size_t i = 0; i < LENGTH(groups); i++)
		for (int exchange = GS_EXCHANGE_STORE; exchange <= GS_EXCHANGE_COPY; exchange++)
		{
			if (groups[i] == NULL || (exchange == GS_EXCHANGE_COPY && groups[i]->ndevices == 1))
				continue;
			groups[i]->options = options;
			groups[i]->options.exchange = (gs_exchange) exchange;
			passed &= device_case_passes(prepared, groups[i], setup, NULL);
		}
	case_release(prepared);
	return passed;
}

/* Every shape; as one plane, and ties broken by a second one. */
static void
test_shapes(void)
{
	const device_setup setup = {.span_shift = 0};

	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		sort_case	c = plain_case((key_shape) shape, 20003);
		bool		passed = passes_everywhere(&c, &setup, tiny_options);

		c.nrows = 7001;
		c.nplanes = 2;
		c.planes[1].keys = KEYS_REVERSE;
		passed &= passes_everywhere(&c, &setup, tiny_options);
		c.planes[0].bytes = c.planes[1].bytes = true;
		passed &= passes_everywhere(&c, &setup, tiny_options);
		tap_ok(passed, "%s", key_shape_name((key_shape) shape));
	}
}

/* Options that nobody has set. */
static void
test_defaults(void)
{
	const device_setup setup = {.feed = FEED_ALL};

	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		sort_case	c = plain_case((key_shape) shape, 2500);

		tap_ok(passes_everywhere(&c, &setup, (gs_device_options) {.device_rows = 0}),
			   "%s, default options", key_shape_name((key_shape) shape));
	}
}

/* All sizes up to 1000, each with another shape, group and way to call. */
static void
test_few_rows(void)
{
	gs_device_options options = {.device_rows = 1, .bucket_rows = 20};
	bool		passed = true;

	for (uint64_t nrows = 0; nrows <= 1000; nrows++)
	{
		sort_case	c = plain_case((key_shape) (nrows % KEY_SHAPES), nrows);
		device_setup setup = {.feed = (feed_shape) (nrows % FEED_SHAPES)};
		gs_group   *group = groups[nrows % LENGTH(groups)];
		prepared_case *prepared;

		c.id_bytes = nrows / 7 % 2 == 0 ? 4 : 8;
		c.want_equal = nrows % 3 > 0;
		c.planes[0].nulls = nrows % 5 > 0 ? NULLS_ABSENT : NULLS_RARE;
		c.planes[0].order = GS_NULLS_FIRST;
		if (nrows <= 70 || nrows % 100 < 2)
			passed &= passes_everywhere(&c, &setup, options);
		if (group == NULL)
			continue;
		prepared = case_prepare(&c);
		group->options = options;
		group->options.exchange = (gs_exchange) (nrows / 11 % 3);
		passed &= device_case_passes(prepared, group, &setup, NULL);
		case_release(prepared);
	}
	tap_ok(passed, "0 to 1000 rows");
}

static void
test_sizes(void)
{
	const device_setup setup = {.span_shift = CASE_SHORT_PARTS};

	for (uint64_t thousands = 1; thousands <= 20; thousands += thousands < 10 ? 1 : 10)
	{
		bool		passed = true;

		for (uint64_t nrows = thousands * 1000 - 3; nrows <= thousands * 1000 + 3; nrows++)
		{
			sort_case	c = plain_case(nrows & 1 ? KEYS_ZIPF1 : KEYS_UNIFORM64, nrows);

			c.id_bytes = nrows & 2 ? 4 : 8;
			if (!small_run || nrows % 3 == 0)
				passed &= passes_everywhere(&c, &setup, tiny_options);
		}
		tap_ok(passed, "around %u rows", (unsigned) (thousands * 1000));
	}
}

/* Keys of many planes that tie until late. */
static void
test_wide(void)
{
	static const unsigned counts[] = {2, 3, 5, 20, GS_MAX_PLANES};

	for (size_t i = 0; i < LENGTH(counts); i++)
	{
		sort_case	c = plain_case(KEYS_TWO_VALUES, counts[i] > 20 ? 300 : 3000);
		device_setup setup = {.span_shift = CASE_SHORT_PARTS};
		bool		passed = true;

		c.nplanes = counts[i];
		for (unsigned p = 0; p < c.nplanes; p++)
			c.planes[p] = (case_plane) {
				.keys = p % 3 == 2 ? KEYS_ZERO : KEYS_EXTREMES,
				.nulls = p % 5 == 4 ? NULLS_RARE : NULLS_ABSENT,
				.order = GS_NULLS_LAST,
			};
		passed &= passes_everywhere(&c, &setup, tiny_options);
		c.planes[0].keys = KEYS_STAIRCASE;
		c.planes[c.nplanes - 1].keys = KEYS_UNIFORM4;
		passed &= passes_everywhere(&c, &setup, tiny_options);
		c.planes[c.nplanes - 1].keys = KEYS_REVERSE;
		passed &= passes_everywhere(&c, &setup, tiny_options);
		tap_ok(passed, "%u planes", counts[i]);
	}
}

/* Every null shape with every order. */
static void
test_nulls(void)
{
	for (int nulls = 0; nulls < NULL_SHAPES; nulls++)
	{
		bool		passed = true;

		for (int order = GS_NULLS_NONE; order <= GS_NULLS_LAST; order++)
		{
			sort_case	c = plain_case(KEYS_UNIFORM64, 5003);
			device_setup setup = {.feed = (feed_shape) order};

			c.planes[0].nulls = (null_shape) nulls;
			c.planes[0].order = (gs_null_order) order;
			passed &= passes_everywhere(&c, &setup, tiny_options);
			c.nplanes = 2;
			c.planes[1] = c.planes[0];
			c.planes[0].keys = KEYS_UNIFORM4;
			passed &= passes_everywhere(&c, &setup, tiny_options);
		}
		tap_ok(passed, "null shape %d", nulls);
	}
}

/*
 * Less and less memory: the result stays right, or there is GS_NO_SPACE, and
 * several numbers of rounds come up on the way.
 */
static bool
memory_passes(const sort_case *c, gs_group *group, unsigned *rounds_seen)
{
	prepared_case *prepared = case_prepare(c);
	device_setup setup = {.span_shift = CASE_SHORT_PARTS};
	bool		passed = true;

	for (uint64_t bytes = 1 << 20; bytes > 110000 && passed; bytes -= bytes / (bytes > 250000 ? 4 : 12))
	{
		gs_device_result result;
		const char *fault;
		gs_status	status;

		group->options.memory_bytes = bytes;
		status = device_case_run(prepared, group, &setup, NULL, &result, &fault);
		passed = fault == NULL && (status == GS_OK || status == GS_NO_SPACE);
		if (status == GS_OK)
			*rounds_seen |= result.rounds < 32 ? 1u << result.rounds : 0;
		if (!passed)
			case_describe(c, fault != NULL ? fault : gs_status_text(status));
	}
	case_release(prepared);
	return passed;
}

static void
test_memory(void)
{
	static const key_shape shapes[] = {KEYS_TWO_VALUES, KEYS_ZIPF1, KEYS_SORTED_WIDE, KEYS_UNIFORM64};

	for (size_t i = 0; i < LENGTH(groups); i++)
		for (int exchange = GS_EXCHANGE_STORE; exchange <= GS_EXCHANGE_COPY; exchange++)
		{
			unsigned	rounds_seen = 0;
			bool		passed = true;

			if (groups[i] == NULL || (small_run && i % 2 == 1))
				continue;
			groups[i]->options = tiny_options;
			groups[i]->options.exchange = (gs_exchange) exchange;
			for (size_t s = (i + exchange) % 2; s < LENGTH(shapes); s += 2)
			{
				/* as many rows a device as eight have of the least */
				sort_case	c = plain_case(shapes[s], groups[i]->ndevices > 8 ? 40013 : 20011);

				passed &= memory_passes(&c, groups[i], &rounds_seen);
				c.planes[0] = (case_plane) {.keys = KEYS_NAMES, .bytes = true};
				passed &= memory_passes(&c, groups[i], &rounds_seen);
				c.planes[0] = (case_plane) {.keys = shapes[s]};
				if (s > 1)
					continue;
				c.nrows = 9011;
				c.nplanes = 3;
				c.planes[0].nulls = NULLS_HALF;
				c.planes[0].order = GS_NULLS_FIRST;
				c.planes[1].keys = KEYS_EXTREMES;
				c.planes[2].keys = KEYS_SORTED_HALVES;
				passed &= memory_passes(&c, groups[i], &rounds_seen);
			}
			if ((rounds_seen & 2) == 0 || gs_popcount(rounds_seen >> 2) < 2)
				tap_note("numbers of rounds seen: %x", rounds_seen);
			tap_ok(passed && (rounds_seen & 2) && gs_popcount(rounds_seen >> 2) >= 2, "little memory, %u devices, exchange %d",
				   groups[i]->ndevices, exchange);
		}
}

static uint64_t temp_bytes(const gs_group *group, uint64_t nrows);

/*
 * With memory for a plane's words and little else, keys are resident, whatever they are made
 * of, unless their ties need more; with less memory than words they are not.
 */
static void
test_resident(void)
{
	static const struct
	{
		const char *name;
		bool		ties;
		unsigned	nplanes;
		case_plane	planes[3];
	}			keys[] = {
		{"words", false, 1, {{.keys = KEYS_UNIFORM64}}},
		{"numbers", false, 1, {{.keys = KEYS_HEX, .bytes = true}}},
		{"words and nulls", false, 1, {{.keys = KEYS_UNIFORM40, .nulls = NULLS_RARE, .order = GS_NULLS_LAST}}},
		{"a bit more", false, 1, {{.keys = KEYS_OUTLIER, .nulls = NULLS_RARE, .order = GS_NULLS_FIRST}}},
		{"two planes", false, 2, {{.keys = KEYS_UNIFORM40}, {.keys = KEYS_UNIFORM4, .nulls = NULLS_HALF, .order = GS_NULLS_LAST}}},
		{"a plane of zeros", false, 3, {{.keys = KEYS_ZERO}, {.keys = KEYS_HEX, .bytes = true}, {.keys = KEYS_UNIFORM4}}},
		{"wide keys", false, 2, {{.keys = KEYS_UNIFORM64}, {.keys = KEYS_UNIFORM64}}},
		{"many ties", true, 2, {{.keys = KEYS_ZIPF1}, {.keys = KEYS_ZIPF1, .nulls = NULLS_HALF, .order = GS_NULLS_LAST}}},
	};

	for (size_t k = 0; k < LENGTH(keys); k++)
		for (size_t i = 0; i < 4; i++)
			for (int exchange = GS_EXCHANGE_STORE; exchange <= GS_EXCHANGE_COPY; exchange++)
			{
				sort_case	c = plain_case(KEYS_ZERO, 0);
				gs_device_result result[2] = {{.rounds = 0}};
				bool		passed = true;
				uint64_t	words;

				if (groups[i] == NULL || (small_run && (i + k) % 2 != 0) || GS_SEGMENT_SHIFT > 12)
					continue;
				/* room for these would be room for keys, too */
				if (temp_bytes(groups[i], 40001) > 16384)
					continue;
				/* on two devices, ties need more than keys leave, and less than there is */
				if (keys[k].ties && groups[i]->ndevices != 2)
					continue;
				c.nplanes = keys[k].nplanes;
				memcpy(c.planes, keys[k].planes, sizeof(keys[k].planes));
				c.nrows = 40001 * groups[i]->ndevices;
				words = 40001 * sizeof(uint64_t);
				groups[i]->options = tiny_options;
				groups[i]->options.exchange = (gs_exchange) exchange;
				for (int less = 0; less < 2; less++)
				{
					prepared_case *prepared = case_prepare(&c);
					device_setup setup = {.feed = (feed_shape) (k % FEED_SHAPES)};

					groups[i]->options.memory_bytes = 100000 + (less ? words : words + words / 3);
					passed &= device_case_passes(prepared, groups[i], &setup, &result[less]);
					case_release(prepared);
				}
				if (!passed || result[0].rounds < 2 || result[0].resident == keys[k].ties || result[1].resident)
					tap_note("rounds %u and %u, resident %d and %d", result[0].rounds, result[1].rounds,
							 result[0].resident, result[1].resident);
				tap_ok(passed && result[0].rounds > 1 && result[0].resident == !keys[k].ties &&
					   !result[1].resident, "%s, little memory, %u devices, exchange %d",
					   keys[k].name, groups[i]->ndevices, exchange);
			}
}

/* Strings, which are numbered: alone, fed or not, with nulls, and among other planes. */
static void
test_bytes(void)
{
	static const key_shape shapes[] = {KEYS_HEX, KEYS_NAMES, KEYS_UNIFORM64, KEYS_SHARED_HIGH};

	for (size_t i = 0; i < LENGTH(shapes); i++)
		for (int feed = 0; feed < FEED_SHAPES; feed++)
		{
			/* with short segments, there are but a few rows that can't be fed */
			sort_case	c = plain_case(shapes[i], 8195);
			device_setup setup = {.feed = (feed_shape) feed};
			bool		passed = true;

			if (small_run && (feed + i) % 2 != 0)
				continue;
			c.planes[0].bytes = true;
			passed &= passes_everywhere(&c, &setup, tiny_options);
			c.planes[0].nulls = NULLS_RARE;
			c.planes[0].order = GS_NULLS_LAST;
			passed &= passes_everywhere(&c, &setup, tiny_options);
			c.nplanes = 3;
			c.planes[1] = (case_plane) {.keys = KEYS_HEX, .bytes = true};
			c.planes[2] = c.planes[0];
			c.planes[0] = (case_plane) {.keys = KEYS_TWO_VALUES};
			passed &= passes_everywhere(&c, &setup, tiny_options);
			tap_ok(passed, "%s as bytes, feed %d", key_shape_name(shapes[i]), feed);
		}
}

/* Pairs, room to sort and refine them, and words. */
#define TIED_ROW_BYTES	72

/* Device memory that a sort needs whatever its rows. */
static uint64_t
temp_bytes(const gs_group *group, uint64_t nrows)
{
	gs_device  *device = group->devices[0];
	gs_rows		rows = {0, nrows};

	return 2 * device->ops->sort_temp_bytes(device, 8, nrows) +
		device->ops->scatter_temp_bytes(device, rows) +
		device->ops->tile_counts_bytes(device, rows) + device->ops->ties_temp_bytes(device, nrows);
}

static gs_device_options
random_options(uint64_t *state, const gs_group *group, uint64_t nrows)
{
	return (gs_device_options) {
		.exchange = (gs_exchange) (random_word(state) % 3),
		.device_rows = 1 + random_word(state) % (nrows / 2 + 1),
		.bucket_rows = 1 + random_word(state) % (nrows / 4 + 1),
		.guess_rows = random_word(state) % 2,
		.lean = random_word(state) % 2 == 0,
		.memory_bytes = random_word(state) % 4 > 0 ? 0
			: 300000 + temp_bytes(group, nrows) + nrows * (random_word(state) % 100),
	};
}

/*
 * Rows whose first section is equal, of a key that goes on, can't be cut: all may have to lie in
 * one share, with what sorting and refining them takes.
 */
static bool
may_lack_memory(const sort_case *c, const gs_group *group)
{
	uint64_t	bytes = group->options.memory_bytes;

	return bytes != 0 && c->nplanes > 1 &&
		bytes < 300000 + temp_bytes(group, c->nrows) + c->nrows * TIED_ROW_BYTES;
}

static bool
random_passes(const prepared_case *prepared, gs_group *group, const device_setup *setup,
			  unsigned *lacking)
{
	gs_device_result result;
	const char *fault;

	if (!may_lack_memory(&prepared->c, group))
		return device_case_passes(prepared, group, setup, NULL);
	if (device_case_run(prepared, group, setup, NULL, &result, &fault) == GS_NO_SPACE && fault == NULL)
	{
		++*lacking;
		return true;
	}
	return device_case_passes(prepared, group, setup, NULL);
}

/* Everything at once. */
static void
test_random(void)
{
	unsigned	lacking = 0;
	uint64_t	state = 20250702;

	for (int batch = 0; batch < (small_run ? 4 : 10); batch++)
	{
		bool		passed = true;

		for (int i = 0; i < 60; i++)
		{
			sort_case	c = device_case_random(&state);
			prepared_case *prepared = case_prepare(&c);
			gs_group   *group = groups[random_word(&state) % LENGTH(groups)];
			device_setup setup = device_setup_random(&state, c.nrows);

			if (group != NULL)
			{
				group->options = random_options(&state, group, c.nrows);
				passed &= random_passes(prepared, group, &setup, &lacking);
			}
			case_release(prepared);
		}
		tap_ok(passed, "random cases, batch %d", batch);
	}
	tap_ok(lacking <= 5, "few of them lack memory");
}

/* How many guesses were right, and how many were not. */
static unsigned right_guesses;
static unsigned wrong_guesses;

/*
 * Whether a sort passes, with or without a guess as to where its rows go; which may be wrong where
 * regions have little room to spare.
 */
static bool
guess_passes(gs_group *group, const sort_case *c, const device_setup *setup, bool guessed)
{
	prepared_case *prepared = case_prepare(c);
	gs_device_result result = {.guessed = !guessed};
	bool		passed = device_case_passes(prepared, group, setup, &result);

	case_release(prepared);
	right_guesses += guessed && result.guessed;
	wrong_guesses += guessed && !result.guessed;
#ifdef GS_GUESS_DEVIATIONS
	return passed && (guessed || !result.guessed);
#else
	return passed && result.guessed == guessed;
#endif
}

/* Rows are scattered while they are uploaded if a sample tells where to. */
static void
test_guess(void)
{
	static const key_shape spread[] = {
		KEYS_UNIFORM64, KEYS_UNIFORM40, KEYS_SORTED, KEYS_REVERSE, KEYS_OUTLIER
	};
	sort_case	c = plain_case(KEYS_UNIFORM64, 50003);

	for (size_t i = 0; i < LENGTH(groups); i++)
	{
		gs_device_options options = {.device_rows = 1, .bucket_rows = 2000, .guess_rows = 50000, .lean = true};
		device_setup setup = {.span_shift = 0};
		bool		passed = true;

		if (groups[i] == NULL)
			continue;
		groups[i]->options = options;
		for (int id_bytes = 4; id_bytes <= 8; id_bytes += 4)
			for (size_t s = 0; s < LENGTH(spread); s++)
			{
				c.id_bytes = id_bytes;
				c.planes[0] = (case_plane) {.keys = spread[s]};
				passed &= guess_passes(groups[i], &c, &setup, true);
			}
		c.planes[0] = (case_plane) {.keys = KEYS_TWO_VALUES};
		passed &= guess_passes(groups[i], &c, &setup, false);
		c.planes[0] = (case_plane) {.keys = KEYS_UNIFORM64, .nulls = NULLS_RARE};
		passed &= guess_passes(groups[i], &c, &setup, false);
		c.planes[0].nulls = NULLS_ABSENT;
		groups[i]->options.guess_rows = 50004;
		passed &= guess_passes(groups[i], &c, &setup, false);
		if (groups[i]->ndevices > 1)
		{
			groups[i]->options = options;
			groups[i]->options.exchange = GS_EXCHANGE_COPY;
			passed &= guess_passes(groups[i], &c, &setup, false);
		}
		tap_ok(passed, "rows that are scattered while they are uploaded, %u devices",
			   groups[i]->ndevices);
	}
#ifdef GS_GUESS_DEVIATIONS
	tap_note("%u guesses were right, %u wrong", right_guesses, wrong_guesses);
	tap_ok(right_guesses > 10 && wrong_guesses > 10, "some guesses are right, some are wrong");
#endif
}

/*
 * With less and less memory for a guess it is a lean one, then rows are parked, and then there is
 * none; nor is there if the host has no memory, or there are too many rows of a key.
 */
static void
test_lean(void)
{
	static const key_shape shapes[] = {
		KEYS_UNIFORM64, KEYS_SORTED, KEYS_REVERSE, KEYS_ZIPF1, KEYS_CLUSTER, KEYS_HEX,
		KEYS_TWO_VALUES, KEYS_UNIFORM4
	};

	for (size_t i = 0; i < LENGTH(groups); i++)
	{
		unsigned	guessed = 0;
		unsigned	lean = 0;
		unsigned	parked = 0;
		unsigned	in_rounds = 0;
		uint64_t	temp = 0;
		bool		passed = true;

		/* in 16 parts there are too few sampled keys */
		if (groups[i] == NULL || groups[i]->ndevices > 8 || (small_run && i % 2 == 1) ||
			GS_SEGMENT_SHIFT > 12)
			continue;
		groups[i]->options = (gs_device_options) {
			.device_rows = 1, .bucket_rows = 2000, .guess_rows = 1, .lean = true
		};
		for (size_t s = 0; s < LENGTH(shapes); s++)
			for (unsigned eighths = s % 2; eighths < 13; eighths += 1 + (i > 0))
			{
				/* as many rows of each device, for bins to have enough sampled keys */
				sort_case	c = plain_case(shapes[s], 50003 + 20000 * (groups[i]->ndevices - 1));
				device_setup setup = {.span_shift = eighths % 2 == 0 ? 0 : CASE_SHORT_PARTS};
				uint64_t	rows = c.nrows / groups[i]->ndevices;
				prepared_case *prepared;
				gs_device_result result;

				c.planes[0].bytes = shapes[s] == KEYS_HEX;
				c.id_bytes = s % 2 == 0 ? 4 : 8;
				c.want_equal = eighths % 3 > 0;
				setup.park_rows = eighths == 7 ? 1000 : c.nrows + c.nrows / 2;
				prepared = case_prepare(&c);
				temp = temp_bytes(groups[i], rows);
				groups[i]->options.memory_bytes = 250000 + temp +
					rows * (8 + c.id_bytes) * (13 - eighths) / 8;
				passed &= device_case_passes(prepared, groups[i], &setup, &result);
				guessed += result.guessed;
				lean += result.guessed && result.parked_rows == 0;
				parked += result.parked_rows > 0;
				in_rounds += result.rounds > 1;
				passed &= eighths != 7 || result.parked_rows <= 1000;
				case_release(prepared);
			}
		tap_note("%u guessed, %u of them had room, %u parked; %u in rounds", guessed, lean, parked,
				 in_rounds);
		/* what devices need beside rows may be more than rows take */
		tap_ok(passed && (temp > 16384 || (lean + parked > 4 && parked > 2 && in_rounds > 2)),
			   "lean guesses, %u devices", groups[i]->ndevices);
	}
}

/* What a result says about itself. */
static void
test_result(void)
{
	for (size_t i = 0; i < LENGTH(groups); i++)
	{
		sort_case	c = plain_case(KEYS_UNIFORM64, 100000);
		prepared_case *prepared = case_prepare(&c);
		device_setup setup = {.span_shift = 0};
		gs_device_result result = {.rounds = 0};
		unsigned	g = group_sizes[i];
		bool		passed;

		if (groups[i] == NULL)
			continue;
		groups[i]->options = (gs_device_options) {.device_rows = c.nrows / g, .bucket_rows = 1000};
		passed = device_case_passes(prepared, groups[i], &setup, &result);
		tap_ok(passed && result.key_bits == 64 && result.devices == g && result.rounds == 1 &&
			   result.refined_rows == 0 && result.largest_share_rows >= c.nrows / g &&
			   result.largest_share_rows <= c.nrows / g + c.nrows / g / 100 + 1 &&
			   result.buckets >= 4 * g, "uniform keys on %u devices", g);
		case_release(prepared);

		c.planes[0] = (case_plane) {.keys = KEYS_HEX, .bytes = true};
		prepared = case_prepare(&c);
		passed = device_case_passes(prepared, groups[i], &setup, &result);
		tap_ok(passed && result.key_bits == 32 && result.devices == g,
			   "hexadecimal digits on %u devices", g);
		case_release(prepared);

		groups[i]->options.device_rows = c.nrows / g + 1;
		c.planes[0] = (case_plane) {.keys = KEYS_EXTREMES};
		c.nplanes = 2;
		c.planes[1].keys = KEYS_UNIFORM64;
		prepared = case_prepare(&c);
		passed = device_case_passes(prepared, groups[i], &setup, &result);
		tap_ok(passed && result.key_bits == 128 && result.refined_rows == c.nrows &&
			   result.devices == (g > 1 ? g - 1 : 1), "wide keys on %u devices", g);
		case_release(prepared);
	}
}

/* Sorted rows stay where they are, but for a few at the borders. */
static void
test_exchanged(void)
{
	sort_case	c = plain_case(KEYS_SORTED, 16 << GS_SEGMENT_SHIFT);
	prepared_case *prepared;
	device_setup setup = {.span_shift = 0};
	gs_device_result result = {.exchanged_rows = UINT64_MAX};
	bool		passed;

	if (GS_SEGMENT_SHIFT > 12 || groups[3] == NULL)
		return;
	groups[3]->options = tiny_options;
	prepared = case_prepare(&c);
	passed = device_case_passes(prepared, groups[3], &setup, &result);
	tap_ok(passed && result.exchanged_rows <= c.nrows / 100, "sorted rows are not exchanged");
	case_release(prepared);
	c.planes[0].keys = KEYS_REVERSE;
	prepared = case_prepare(&c);
	passed = device_case_passes(prepared, groups[3], &setup, &result);
	tap_ok(passed && result.exchanged_rows >= c.nrows - c.nrows / 100, "reversed rows all are");
	case_release(prepared);
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	for (size_t i = 0; i < LENGTH(groups); i++)
		groups[i] = test_group_open(group_sizes[i], ARENA_BYTES);
	test_few_rows();
	test_shapes();
	test_defaults();
	test_sizes();
	test_wide();
	test_nulls();
	test_bytes();
	test_memory();
	test_resident();
	test_random();
	test_guess();
	test_lean();
	test_result();
	test_exchanged();
	for (size_t i = 0; i < LENGTH(groups); i++)
		if (groups[i] != NULL)
			test_group_close(groups[i]);
	return tap_finish();
}
