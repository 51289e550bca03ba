/*
 * team_job.h
 *		A job that a team helps with: making it, opening and closing it, and mapping what it names.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_JOB_H
#define GPUSORT_TEAM_JOB_H

#include "sort/sort_state.h"
#include "sort/team_layout.h"

/*
 * Describe the first `bytes` bytes of a range as a piece of the job's list, which has *total
 * extents so far.  Returns false if some of them are private memory.  If range is NULL the piece is
 * empty.
 */
extern bool gpusort_team_job_count(const GpuSortRange *range, size_t bytes, TeamPiece *piece,
								   uint32 *total);

/* Put the numbers of a piece's extents into the list. */
extern void gpusort_team_job_list(const GpuSortRange *range, TeamPiece piece, uint32 *list);

/* Get so many bytes of the pool for the sort's job.  Returns false if there is no room. */
extern bool gpusort_team_job_make(GpuSort *sort, size_t bytes);

/* Let the team see the job, and begin with it. */
extern void gpusort_team_job_open(GpuSort *sort);

/*
 * Note that a process which helps begins with the job; called by that process when it has mapped
 * what it needs.
 */
extern void gpusort_team_job_begin(GpuSortTeam *team);

/* Let no other process begin with the job, and wait until all that have begun have let go of it. */
extern void gpusort_team_job_close(GpuSort *sort);

/* Release what the sort's job has taken, if there is one. */
extern void gpusort_team_withdraw(GpuSort *sort);

/*
 * Map extents, or a piece of a job, until the current memory context is reset.  Returns NULL if
 * there is no address space.
 */
extern char *gpusort_team_job_map_extents(const uint32 *list, uint32 count, bool writable);
extern char *gpusort_team_job_map(const TeamJob *job, TeamPiece piece, bool writable);

/* Map a piece for reading, with as much private memory behind it as `more` extents hold. */
extern char *gpusort_team_job_map_before(const TeamJob *job, TeamPiece piece, uint32 more);

#endif							/* GPUSORT_TEAM_JOB_H */
