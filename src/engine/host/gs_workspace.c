/*
 * gs_workspace.c
 *		How large the caller's workspace is.
 */
#include "engine/host/gs_job.h"
#include "engine/host/gs_workspace.h"

/* Tables of a sort of few rows. */
#define TABLE_BYTES		(sizeof(gs_scratch) + (UINT64_C(32) << 10))

/*
 * What lies before the halves: tables; and of many rows, all that a participant and those who share a
 * sort have beside the workspace, as there is one only.  That is less than 1/32 of a byte a row, and
 * counted for few rows, too: so memory for some rows and memory for others is enough for all of them.
 */
uint64_t
gs_workspace_front_bytes(uint64_t nrows)
{
	return gs_round_to_line(TABLE_BYTES + nrows / 32);
}

size_t
gs_sort_workspace_bytes(uint64_t nrows)
{
	uint64_t	bytes;

	if (nrows > GS_MAX_ROWS)
		return SIZE_MAX;
	bytes = gs_workspace_front_bytes(nrows) + 2 * gs_workspace_half_bytes(nrows);
	return bytes > SIZE_MAX ? SIZE_MAX : (size_t) bytes;
}
