/*
 * gs_arena.h
 *		Handing out blocks of one large stretch of memory.
 */
#ifndef GS_ARENA_H
#define GS_ARENA_H

#include <stddef.h>

#define GS_ARENA_ALIGNMENT	256

typedef struct gs_arena gs_arena;

/*
 * Opens an arena over [base, base + bytes), which is never touched; base is aligned to
 * GS_ARENA_ALIGNMENT.  Returns NULL if the host has no memory for the bookkeeping.
 */
extern gs_arena *gs_arena_open(void *base, size_t bytes);
extern void gs_arena_close(gs_arena *arena);

/* Returns memory that is aligned to GS_ARENA_ALIGNMENT, or NULL if there is no room. */
extern void *gs_arena_alloc(gs_arena *arena, size_t bytes);

/* Gives back memory; does nothing with NULL. */
extern void gs_arena_free(gs_arena *arena, void *memory);

/* Returns the bytes of a block that was handed out, rounded up to the alignment; 0 for NULL. */
extern size_t gs_arena_block_bytes(const gs_arena *arena, const void *memory);

/* Returns the most bytes that one gs_arena_alloc() would get now. */
extern size_t gs_arena_largest_free(const gs_arena *arena);

/* Returns how many bytes are handed out, rounded up to the alignment. */
extern size_t gs_arena_used(const gs_arena *arena);

#endif							/* GS_ARENA_H */
