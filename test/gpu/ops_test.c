/*
 * ops_test.c
 *		Every operation of the CUDA device against the simulated device's.
 *
 *		ops_test [--small] [--host] [--seed N]
 *
 * Both devices get the same random arguments; what they leave in memory has to be
 * the same, byte for byte, including what they must not touch.  --small keeps to a
 * few thousand rows, for the sanitizers; --host compares the simulated device with
 * itself, which tests the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/gs_engine.h"
#include "engine/simulated/gs_simulated_device.h"
#include "gs_cuda.h"
#include "keys.h"
#include "ops_side.h"
#include "ops_cases.h"
#include "tap.h"

#define ARENA_BYTES	((size_t) 1 << 29)

static side sides[2];
static uint64_t random_state = 1;

uint64_t
random_below(uint64_t limit)
{
	return random_word(&random_state) % limit;
}

side *
ops_sides(void)
{
	return sides;
}

static gs_device *
open_tested(unsigned index, bool host)
{
	char		error[256];
	gs_device  *device;

	if (host)
		return gs_simulated_device_open(index, ARENA_BYTES, 0);
	device = gs_cuda_device_open(index, 0, ARENA_BYTES, 0, error, sizeof(error));
	if (device == NULL)
		printf("Bail out! cannot open the GPU: %s\n", error);
	return device;
}

/* Two devices of a group: copies between them, reach, events across. */
static void
test_group(gs_device *one, gs_device *two, bool host)
{
	gs_device  *group[2] = {one, two};
	side		first = {.name = "first", .device = one};
	side		second = {.name = "second", .device = two};
	uint64_t	words[1000];
	uint64_t	back[1000];
	uint64_t   *from;
	uint64_t   *to;
	gs_event_ref event;

	for (unsigned i = 0; i < 1000; i++)
		words[i] = random_below(UINT64_MAX);
	if (!host)
		must(&first, gs_cuda_group_connect(group, 2), "connect");
	tap_ok(one->ops->can_reach(one, two) && one->ops->can_reach(one, one),
		   "devices on one GPU reach each other");
	from = side_put(&first, words, sizeof(words));
	to = side_alloc(&second, sizeof(words));
	must(&first, one->ops->record(one, GS_QUEUE_WORK, &event), "record");
	must(&second, two->ops->wait(two, GS_QUEUE_WORK, event), "wait");
	must(&second, two->ops->copy(two, GS_QUEUE_WORK, to, one, from, sizeof(words)), "copy");
	side_get(&second, back, to, sizeof(words));
	tap_ok(memcmp(words, back, sizeof(words)) == 0, "copy from another device");
	must(&second, two->ops->clear(two, GS_QUEUE_WORK, to + 10, 80), "clear");
	side_get(&second, back, to, sizeof(words));
	memset(words + 10, 0, 80);
	tap_ok(memcmp(words, back, sizeof(words)) == 0, "clear touches what it should");
	side_clear(&first);
	side_clear(&second);
}

static void
test_arena(side *s)
{
	const gs_device_ops *ops = s->device->ops;
	size_t		before = ops->largest_free(s->device);
	void	   *a = ops->alloc(s->device, 1000);
	void	   *b = ops->alloc(s->device, 1000);
	gs_device_info info;

	tap_ok(a != NULL && b != NULL && (uintptr_t) a % 256 == 0 && (uintptr_t) b % 256 == 0,
		   "%s: memory is aligned", s->name);
	tap_ok(ops->alloc(s->device, ARENA_BYTES + 1) == NULL, "%s: no room is no memory", s->name);
	ops->free(s->device, a);
	ops->free(s->device, b);
	ops->free(s->device, NULL);
	tap_ok(ops->largest_free(s->device) == before, "%s: what was freed is whole again", s->name);
	ops->info(s->device, &info);
	tap_ok(info.arena_bytes == ARENA_BYTES && info.memory_bytes >= ARENA_BYTES,
		   "%s is called %s", s->name, info.name);
}

static double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

/* Spans are those that were begun and ended, in order. */
static void
test_trace(side *s)
{
	const gs_device_ops *ops = s->device->ops;
	uint64_t	words[64] = {0};
	gs_span_time spans[4];
	unsigned	nspans;
	double		now_ms;
	void	   *memory;

	must(s, ops->reset(s->device), "reset");
	ops->span_begin(s->device, GS_QUEUE_WORK, "none");
	ops->span_end(s->device, GS_QUEUE_WORK);
	tap_ok(ops->read_trace(s->device, spans, 4) == 0, "%s: no trace unless it is wanted", s->name);
	ops->keep_trace(s->device, true);
	ops->span_begin(s->device, GS_QUEUE_WORK, "first");
	memory = side_put(s, words, sizeof(words));
	ops->span_end(s->device, GS_QUEUE_WORK);
	ops->span_begin(s->device, GS_QUEUE_WORK, "second");
	must(s, ops->count_up(s->device, GS_QUEUE_WORK, memory, 8, 0, 64), "count_up");
	ops->span_end(s->device, GS_QUEUE_WORK);
	ops->span_end(s->device, GS_QUEUE_DOWN);
	nspans = ops->read_trace(s->device, spans, 4);
	now_ms = clock_ms();
	tap_ok(nspans == 2 && strcmp(spans[0].name, "first") == 0 &&
		   spans[1].queue == GS_QUEUE_WORK && spans[0].begin_ms <= spans[0].end_ms &&
		   spans[0].end_ms <= spans[1].begin_ms && spans[1].end_ms < now_ms + 1 &&
		   spans[0].begin_ms > now_ms - 60e3, "%s: spans", s->name);
	side_clear(s);
	tap_ok(ops->read_trace(s->device, spans, 4) == 0, "%s: no spans after reset", s->name);
	ops->keep_trace(s->device, false);
}

int
main(int argc, char **argv)
{
	bool		host = false;
	bool		small = false;
	gs_device  *second;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--small") == 0)
			small = true;
		else if (strcmp(argv[i], "--host") == 0)
			host = true;
		else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
			random_state = strtoull(argv[++i], NULL, 10);
	}
	sides[0] = (side) {.name = "reference", .device = gs_simulated_device_open(0, ARENA_BYTES, 0)};
	sides[1] = (side) {.name = "tested", .device = open_tested(0, host)};
	second = open_tested(1, host);
	if (sides[0].device == NULL || sides[1].device == NULL || second == NULL)
		return 1;

	test_arena(&sides[1]);
	test_group(sides[1].device, second, host);
	test_trace(&sides[0]);
	test_trace(&sides[1]);
	test_stats(small);
	test_pack(small);
	test_histogram(small);
	test_scatter(small);
	test_sort(small);
	test_sort_runs(small);
	test_ties(small);
	test_check(small);
	test_sums(small);
	test_rows(small);
	test_text(small);

	second->ops->close(second);
	sides[0].device->ops->close(sides[0].device);
	sides[1].device->ops->close(sides[1].device);
	return tap_finish();
}
