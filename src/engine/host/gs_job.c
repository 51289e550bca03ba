/*
 * gs_job.c
 *		What all steps of a sort on the host do now and then: they look whether the sort is still
 *		wanted, and tell how far it has come.  And how large the workspace is.
 */
#include "engine/host/gs_sort.h"
#include "engine/host/gs_sort_private.h"

/* The tables that a sort of few rows has. */
#define TABLE_BYTES		(sizeof(gs_scratch) + (UINT64_C(32) << 10))

bool
gs_job_look(gs_job *job)
{
	gs_progress_advance(job->progress, (double) job->work * job->row_cost);
	job->work = 0;
	return gs_cancelled(job->cancel) || gs_cancelled(job->also_cancel);
}

/*
 * Before the halves lie tables and, for many rows, what a participant, and the sort that it shares
 * with nobody, have beside the workspace.  The latter is less than 1/32 of a byte a row.  It is
 * counted for few rows, too, so that memory for m rows and memory for n rows is together enough for
 * m + n.
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
