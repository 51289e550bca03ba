/*
 * arena_test.c
 *		The arena against a map of which bytes are handed out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_arena.h"
#include "keys.h"
#include "tap.h"

#define UNIT	GS_ARENA_ALIGNMENT
#define MB		((size_t) 1 << 20)

/* The arena never touches its memory, so any address will do. */
static char *const base = (char *) (uintptr_t) (64 * MB);

static void
test_edges(void)
{
	gs_arena   *arena = gs_arena_open(base, 10 * UNIT + 100);
	void	   *all;

	tap_ok(gs_arena_largest_free(arena) == 10 * UNIT, "an odd tail is left alone");
	tap_ok(gs_arena_alloc(arena, 10 * UNIT + 1) == NULL, "too large");
	tap_ok(gs_arena_alloc(arena, SIZE_MAX) == NULL, "absurdly large");
	all = gs_arena_alloc(arena, 10 * UNIT);
	tap_ok(all == base && gs_arena_largest_free(arena) == 0, "everything");
	tap_ok(gs_arena_alloc(arena, 1) == NULL, "nothing left");
	gs_arena_free(arena, NULL);
	gs_arena_free(arena, all);
	tap_ok(gs_arena_used(arena) == 0 && gs_arena_largest_free(arena) == 10 * UNIT, "all back");
	gs_arena_close(arena);
	gs_arena_close(NULL);
}

static void
test_ends(void)
{
	gs_arena   *arena = gs_arena_open(base, 100 * MB);
	char	   *small = gs_arena_alloc(arena, 2 * MB);
	char	   *large = gs_arena_alloc(arena, 40 * MB);
	char	   *small2 = gs_arena_alloc(arena, 1);
	char	   *large2 = gs_arena_alloc(arena, 17 * MB);

	tap_ok(small == base && small2 == base + 2 * MB, "small blocks at the low end");
	tap_ok(large == base + 60 * MB && large2 == base + 43 * MB, "large ones at the high end");
	gs_arena_free(arena, large);
	tap_ok(gs_arena_alloc(arena, 40 * MB) == large, "the high end again");
	gs_arena_close(arena);
}

#define SLOTS	40
#define UNITS	1000

/* Random allocations and releases of a small arena. */
static bool
random_walk_passes(uint64_t seed)
{
	gs_arena   *arena = gs_arena_open(base, UNITS * UNIT);
	unsigned char taken[UNITS] = {0};
	char	   *slots[SLOTS] = {NULL};
	size_t		units[SLOTS] = {0};
	size_t		used = 0;
	bool		passed = true;

	for (int step = 0; step < 3000 && passed; step++)
	{
		size_t		slot = random_word(&seed) % SLOTS;
		size_t		first = slots[slot] == NULL ? 0 : (size_t) (slots[slot] - base) / UNIT;
		size_t		longest = 0;

		if (slots[slot] != NULL)
		{
			memset(taken + first, 0, units[slot]);
			used -= units[slot];
			gs_arena_free(arena, slots[slot]);
			slots[slot] = NULL;
		}
		else
		{
			units[slot] = 1 + random_word(&seed) % 60;
			slots[slot] = gs_arena_alloc(arena, units[slot] * UNIT - random_word(&seed) % UNIT);
			passed &= slots[slot] != NULL || gs_arena_largest_free(arena) < units[slot] * UNIT;
			first = slots[slot] == NULL ? 0 : (size_t) (slots[slot] - base) / UNIT;
			for (size_t i = 0; slots[slot] != NULL && i < units[slot]; i++)
				passed &= first + i < UNITS && taken[first + i]++ == 0;
			used += slots[slot] != NULL ? units[slot] : 0;
		}
		for (size_t i = 0, run = 0; i < UNITS; i++)
		{
			run = taken[i] ? 0 : run + 1;
			longest = run > longest ? run : longest;
		}
		passed &= gs_arena_largest_free(arena) == longest * UNIT;
		passed &= gs_arena_used(arena) == used * UNIT;
	}
	gs_arena_close(arena);
	return passed;
}

int
main(void)
{
	test_edges();
	test_ends();
	for (uint64_t seed = 1; seed <= 5; seed++)
		tap_ok(random_walk_passes(seed), "random blocks, seed %llu", (unsigned long long) seed);
	return tap_finish();
}
