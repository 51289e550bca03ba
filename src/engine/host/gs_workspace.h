/*
 * gs_workspace.h
 *		What the caller's workspace is divided into: a front, and two halves of one word a row.
 */
#ifndef GS_WORKSPACE_H
#define GS_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

/* Workspaces, and what lies in them, begin where lines of the cache do. */
#define GS_LINE_BYTES	64

static inline uint64_t
gs_round_to_line(uint64_t bytes)
{
	return (bytes + GS_LINE_BYTES - 1) / GS_LINE_BYTES * GS_LINE_BYTES;
}

/* Bytes from one half to the next. */
static inline uint64_t
gs_workspace_half_bytes(uint64_t nrows)
{
	return gs_round_to_line(nrows * sizeof(uint64_t));
}

/* Bytes of what one process sorts by itself has before the halves. */
extern uint64_t gs_workspace_front_bytes(uint64_t nrows);

/*
 * Bytes of workspace that a sort of so many rows needs, whatever the planes:
 * 16 a row and about 64 kB.  SIZE_MAX when there are too many rows (2^48).
 */
extern size_t gs_sort_workspace_bytes(uint64_t nrows);

#endif							/* GS_WORKSPACE_H */
