/*
 * link_test.c
 *		What crosses the link of a device, by how much memory it has.
 *
 * A simulated device counts bytes, where a real one would take time.  Rows are 12 bytes, pairs of
 * a key and an id: 8 go up and 4 come down at least, and each row that is parked crosses the link
 * once more in each direction.
 */
#include <stdlib.h>

#include "device_case.h"
#include "engine/simulated/gs_simulated_device.h"
#include "tap.h"
#include "test_group.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

#define NROWS			100000
#define ARENA_BYTES		((size_t) 16 << 20)
#define PAIR_BYTES		12

/* Returns how many rows there should be host memory for. */
static uint64_t
park_rows(gs_group *group)
{
	gs_span_plane plane = {.words = {NULL, 63}};
	gs_device_args args = {.nrows = NROWS, .nplanes = 1, .planes = &plane, .id_bytes = 4};
	gs_device_job *job;
	uint64_t	bytes;

	if (gs_device_begin(group, 1, NROWS, &job) != GS_OK)
		return 0;
	bytes = gs_device_park_bytes(job, &args);
	gs_device_end(job);
	return bytes / PAIR_BYTES;
}

/* A sort with so much device memory for each row, and none or enough in the host. */
static bool
sort_counted(key_shape keys, double row_bytes, bool park, gs_device_result *result,
			 gs_simulated_traffic *traffic)
{
	sort_case	c = {.nrows = NROWS, .nplanes = 1, .id_bytes = 4, .seed = 1};
	device_setup setup = {.park_rows = 0};
	gs_group   *group = test_group_open(1, ARENA_BYTES);
	prepared_case *prepared;
	bool		passed;

	c.planes[0].keys = keys;
	prepared = case_prepare(&c);
	group->options = (gs_device_options) {
		.bucket_rows = 4000, .guess_rows = 1, .lean = true,
		/* tables and the shortest landing, which are little where memory is more */
		.memory_bytes = 200000 + (uint64_t) (row_bytes * NROWS)
	};
	if (park)
		setup.park_rows = park_rows(group);
	passed = device_case_passes(prepared, group, &setup, result);
	*traffic = gs_simulated_device_traffic(group->devices[0]);
	tap_note("%4.1f bytes a row, room to park %.2f: %.2f up, %.2f down; %.1f %% parked, %u rounds, guessed %d",
			 row_bytes, (double) setup.park_rows / NROWS, (double) traffic->up / NROWS, (double) traffic->down / NROWS,
			 100.0 * (double) result->parked_rows / NROWS, result->rounds, result->guessed);
	test_group_close(group);
	case_release(prepared);
	return passed;
}

/* Returns whether traffic is what it must be, but for small tables. */
static bool
is_least(const gs_device_result *result, gs_simulated_traffic traffic)
{
	uint64_t	parked = result->parked_rows * PAIR_BYTES;
	uint64_t	small = 2 * NROWS / 10;

	return result->guessed && traffic.up <= 8 * NROWS + parked + small &&
		traffic.down <= 4 * NROWS + parked + small;
}

/* With room for the pairs and no more, each row crosses the link once. */
static void
test_room(void)
{
	static const double row_bytes[] = {30, 24, 20};

	for (size_t i = 0; i < LENGTH(row_bytes); i++)
	{
		gs_device_result result;
		gs_simulated_traffic traffic;
		bool		passed = sort_counted(KEYS_UNIFORM64, row_bytes[i], false, &result, &traffic);

		tap_ok(passed && result.parked_rows == 0 && is_least(&result, traffic),
			   "%.0f bytes a row: words go up once, ids come down once", row_bytes[i]);
	}
}

/* With less, only the parked rows cross it again; without host memory, keys do in each round. */
static void
test_parked(void)
{
	static const double row_bytes[] = {12, 8, 4};

	for (size_t i = 0; i < LENGTH(row_bytes); i++)
	{
		gs_device_result result;
		gs_simulated_traffic traffic;
		bool		passed = sort_counted(KEYS_UNIFORM64, row_bytes[i], true, &result, &traffic);
		uint64_t	up = traffic.up;

		tap_ok(passed && result.parked_rows > 0 && is_least(&result, traffic),
			   "%.0f bytes a row: and parked rows twice", row_bytes[i]);
		passed = sort_counted(KEYS_UNIFORM64, row_bytes[i], false, &result, &traffic);
		tap_ok(passed && result.rounds > 1 && result.parked_rows == 0 &&
			   (row_bytes[i] > 8 || traffic.up > 2 * up), "... in rounds without host memory");
	}
}

/* Keys of which few are different can't be cut, and are found out before much has been uploaded. */
static void
test_few_values(void)
{
	gs_device_result result;
	gs_simulated_traffic traffic;
	bool		passed = sort_counted(KEYS_TWO_VALUES, 12, true, &result, &traffic);

	tap_ok(passed && !result.guessed && traffic.up < 12 * NROWS, "two values: no guess, little lost");
}

int
main(void)
{
	test_room();
	test_parked();
	test_few_values();
	return tap_finish();
}
