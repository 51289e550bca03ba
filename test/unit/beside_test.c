/*
 * beside_test.c
 *		Sorts on lanes beside each other and beside sorts on the devices that they are part of.
 *
 * Each lane has a thread, and so has the group of devices.  All sort random cases, again and
 * again, and some of the sorts fail or are cancelled: none of it may show in the sorts of others.
 * Runs on whatever devices test_group.h stands for; with --small, for runs under sanitizers,
 * fewer cases.
 */
#include <pthread.h>
#include <string.h>

#include "device_case.h"
#include "tap.h"
#include "test_group.h"

#define DEVICES		2
#define LANES		3			/* of each */
#define ARENA_BYTES	((size_t) 64 << 20)
#define LANE_BYTES	((size_t) 12 << 20)
#define SORTERS		(DEVICES * LANES + 1)

typedef struct sorter
{
	pthread_t	thread;
	gs_group	group;
	uint64_t	state;			/* of random words */
	unsigned	ncases;
	unsigned	passed;
	unsigned	cancelled;
} sorter;

/* A sort that gives up at once, and has to leave the others alone when it cleans up. */
static bool
cancelled_passes(sorter *self, const prepared_case *prepared, const device_setup *setup)
{
	const volatile int cancel = 1;
	gs_device_result result;
	const char *fault;

	self->cancelled++;
	return device_case_run(prepared, &self->group, setup, &cancel, &result, &fault) == GS_CANCELLED &&
		fault == NULL;
}

static void *
sort_cases(void *arg)
{
	sorter	   *self = arg;

	for (unsigned i = 0; i < self->ncases; i++)
	{
		sort_case	c = device_case_random(&self->state);
		prepared_case *prepared = case_prepare(&c);
		device_setup setup = device_setup_random(&self->state, c.nrows);

		self->group.options = (gs_device_options) {
			.device_rows = 1 + random_word(&self->state) % (c.nrows / 2 + 1),
			.bucket_rows = 1 + random_word(&self->state) % (c.nrows / 4 + 1),
		};
		if (random_word(&self->state) % 8 == 0)
			self->passed += cancelled_passes(self, prepared, &setup);
		else
			self->passed += device_case_passes(prepared, &self->group, &setup, NULL);
		case_release(prepared);
	}
	return NULL;
}

static bool
open_lane(gs_device *device, gs_group *group)
{
	*group = (gs_group) {.ndevices = 1,.devices = {device->ops->open_lane(device, LANE_BYTES)}};
	return group->devices[0] != NULL;
}

static uint64_t
bytes_free(const gs_group *group)
{
	uint64_t	bytes = 0;

	for (unsigned d = 0; d < group->ndevices; d++)
		bytes += group->devices[d]->ops->largest_free(group->devices[d]);
	return bytes;
}

static void
test_beside(gs_group *group, unsigned ncases)
{
	static sorter sorters[SORTERS];
	bool		opened = true;
	unsigned	wrong = 0;
	unsigned	cancelled = 0;

	sorters[0].group = *group;
	for (unsigned i = 1; i < SORTERS; i++)
		opened &= open_lane(group->devices[i % DEVICES], &sorters[i].group);
	tap_ok(opened, "%u lanes on each of %u devices", LANES, DEVICES);
	for (unsigned i = 0; i < SORTERS; i++)
	{
		sorters[i].state = i + 1;
		sorters[i].ncases = ncases;
		pthread_create(&sorters[i].thread, NULL, sort_cases, &sorters[i]);
	}
	for (unsigned i = 0; i < SORTERS; i++)
	{
		pthread_join(sorters[i].thread, NULL);
		wrong += sorters[i].ncases - sorters[i].passed;
		cancelled += sorters[i].cancelled;
	}
	tap_ok(wrong == 0, "%u sorts beside each other: %u wrong", SORTERS * ncases, wrong);
	tap_ok(cancelled > 0, "%u of them were cancelled", cancelled);
	for (unsigned i = 1; i < SORTERS; i++)
		sorters[i].group.devices[0]->ops->close(sorters[i].group.devices[0]);
}

/* A lane's memory comes from its device, and goes back there. */
static void
test_memory(gs_group *group)
{
	gs_device  *device = group->devices[0];
	uint64_t	before = bytes_free(group);
	gs_group	lane;

	tap_ok(open_lane(device, &lane) && bytes_free(group) <= before - LANE_BYTES &&
		   bytes_free(&lane) > LANE_BYTES / 2 && bytes_free(&lane) <= LANE_BYTES,
		   "a lane has a part of its device's memory");
	lane.devices[0]->ops->close(lane.devices[0]);
	tap_ok(bytes_free(group) == before, "it is given back");
	tap_ok(device->ops->open_lane(device, 2 * ARENA_BYTES) == NULL && bytes_free(group) == before,
		   "no lane is larger than its device");
}

int
main(int argc, char **argv)
{
	bool		small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	gs_group   *group;

	/* what is set up with the first memory is not set up by several threads */
	test_memory_free(test_memory_alloc(1));
	group = test_group_open(DEVICES, ARENA_BYTES);
	test_memory(group);
	test_beside(group, small_run ? 30 : 200);
	test_group_close(group);
	return tap_finish();
}
