/*
 * gs_workspace.h
 *		What the caller's workspace is divided into: a front, and two halves of one word a row.
 */
#ifndef GS_WORKSPACE_H
#define GS_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

/* Workspaces, and the parts that they are divided into, begin at a line of the cache. */
#define GS_LINE_BYTES	64

static inline uint64_t
gs_round_to_line(uint64_t bytes)
{
	return (bytes + GS_LINE_BYTES - 1) / GS_LINE_BYTES * GS_LINE_BYTES;
}

/* Returns the bytes from one half to the next. */
static inline uint64_t
gs_workspace_half_bytes(uint64_t nrows)
{
	return gs_round_to_line(nrows * sizeof(uint64_t));
}

/* Returns the bytes that lie before the halves, for a sort by one process. */
extern uint64_t gs_workspace_front_bytes(uint64_t nrows);

/*
 * Returns the bytes of workspace that a sort of so many rows needs, whatever the planes: 16 a row
 * and about 64 kB.  SIZE_MAX if there are too many rows (2^48).
 */
extern size_t gs_sort_workspace_bytes(uint64_t nrows);

#endif							/* GS_WORKSPACE_H */
