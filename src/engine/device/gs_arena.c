/*
 * gs_arena.c
 *		Handing out pieces of one large stretch of memory.
 *
 * The memory may lie on a device, so all bookkeeping is address arithmetic: an array of blocks,
 * free and used, in the order of their addresses and without gaps.  The array lives on the host.
 * No two neighbours are both free.
 *
 * Small blocks (segments of planes, tables) are taken from the low end and large ones (arrays of a
 * share) from the high end, each where it fits first.  Small blocks come and go with the uploads of
 * several jobs; kept apart from the large ones they leave the middle in one piece.
 *
 * A job has a few thousand blocks at most, so a linear search, and moving the array's tail, cost
 * microseconds.  Giving memory back never needs memory and can't fail.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_arena.h"

/* Larger blocks come from the high end. */
#define LARGE_BYTES		((size_t) 16 << 20)

typedef struct block
{
	size_t		offset;
	size_t		bytes;			/* a multiple of the alignment */
	bool		used;
} block;

struct gs_arena
{
	char	   *base;
	size_t		used_bytes;
	size_t		count;
	size_t		room;			/* how many blocks the array has room for */
	block	   *blocks;
};

gs_arena *
gs_arena_open(void *base, size_t bytes)
{
	gs_arena   *arena = calloc(1, sizeof(*arena));

	if (arena == NULL)
		return NULL;
	arena->base = base;
	arena->room = 64;
	arena->blocks = malloc(arena->room * sizeof(block));
	if (arena->blocks == NULL)
	{
		free(arena);
		return NULL;
	}
	bytes -= bytes % GS_ARENA_ALIGNMENT;
	if (bytes > 0)
		arena->blocks[arena->count++] = (block) {0, bytes, false};
	return arena;
}

void
gs_arena_close(gs_arena *arena)
{
	if (arena == NULL)
		return;
	free(arena->blocks);
	free(arena);
}

static bool
fits(const block *b, size_t bytes)
{
	return !b->used && b->bytes >= bytes;
}

/* Returns the free block to take bytes from, or arena->count if none fits. */
static size_t
find_fit(const gs_arena *arena, size_t bytes)
{
	if (bytes <= LARGE_BYTES)
	{
		for (size_t i = 0; i < arena->count; i++)
			if (fits(&arena->blocks[i], bytes))
				return i;
	}
	else
	{
		for (size_t i = arena->count; i-- > 0;)
			if (fits(&arena->blocks[i], bytes))
				return i;
	}
	return arena->count;
}

static bool
reserve_block(gs_arena *arena)
{
	block	   *larger;

	if (arena->count < arena->room)
		return true;
	larger = realloc(arena->blocks, 2 * arena->room * sizeof(block));
	if (larger == NULL)
		return false;
	arena->blocks = larger;
	arena->room *= 2;
	return true;
}

/* Cuts block i in two, the first of which has so many bytes. */
static void
split_block(gs_arena *arena, size_t i, size_t bytes)
{
	block	   *b = &arena->blocks[i];

	memmove(b + 1, b, (arena->count - i) * sizeof(block));
	arena->count++;
	b[0].bytes = bytes;
	b[1].offset += bytes;
	b[1].bytes -= bytes;
}

void *
gs_arena_alloc(gs_arena *arena, size_t bytes)
{
	size_t		rest;
	size_t		i;

	if (bytes > SIZE_MAX - GS_ARENA_ALIGNMENT)
		return NULL;
	bytes = bytes == 0 ? GS_ARENA_ALIGNMENT
		: (bytes + GS_ARENA_ALIGNMENT - 1) / GS_ARENA_ALIGNMENT * GS_ARENA_ALIGNMENT;
	i = find_fit(arena, bytes);
	if (i == arena->count || !reserve_block(arena))
		return NULL;

	rest = arena->blocks[i].bytes - bytes;
	if (rest > 0 && bytes <= LARGE_BYTES)
		split_block(arena, i, bytes);
	else if (rest > 0)
		split_block(arena, i++, rest);
	arena->blocks[i].used = true;
	arena->used_bytes += bytes;
	return arena->base + arena->blocks[i].offset;
}

/* Returns the block that begins at an offset; there must be one. */
static size_t
find_block(const gs_arena *arena, size_t offset)
{
	size_t		low = 0;
	size_t		high = arena->count - 1;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (arena->blocks[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Joins blocks i and i + 1 if both are free. */
static void
join_blocks(gs_arena *arena, size_t i)
{
	block	   *b = &arena->blocks[i];

	if (i + 1 >= arena->count || b[0].used || b[1].used)
		return;
	b[0].bytes += b[1].bytes;
	memmove(b + 1, b + 2, (arena->count - i - 2) * sizeof(block));
	arena->count--;
}

void
gs_arena_free(gs_arena *arena, void *memory)
{
	size_t		i;

	if (memory == NULL)
		return;
	i = find_block(arena, (size_t) ((char *) memory - arena->base));
	arena->blocks[i].used = false;
	arena->used_bytes -= arena->blocks[i].bytes;
	join_blocks(arena, i);
	if (i > 0)
		join_blocks(arena, i - 1);
}

size_t
gs_arena_block_bytes(const gs_arena *arena, const void *memory)
{
	if (memory == NULL)
		return 0;
	return arena->blocks[find_block(arena, (size_t) ((const char *) memory - arena->base))].bytes;
}

size_t
gs_arena_largest_free(const gs_arena *arena)
{
	size_t		largest = 0;

	for (size_t i = 0; i < arena->count; i++)
		if (fits(&arena->blocks[i], largest))
			largest = arena->blocks[i].bytes;
	return largest;
}

size_t
gs_arena_used(const gs_arena *arena)
{
	return arena->used_bytes;
}
