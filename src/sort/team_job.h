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
 * Describe the first bytes of a range as a piece of the job's list, which has *total extents so
 * far; false if some of them are private memory.  NULL is an empty piece.
 */
extern bool gpusort_team_job_count(const GpuSortRange *range, size_t bytes, TeamPiece *piece,
								   uint32 *total);

/* Put a piece's extents into the list. */
extern void gpusort_team_job_list(const GpuSortRange *range, TeamPiece piece, uint32 *list);

/* Have so many bytes in the pool for the sort's job; false if there is no room. */
extern bool gpusort_team_job_make(GpuSort *sort, size_t bytes);

/* Let the team see the job. */
extern void gpusort_team_job_open(GpuSort *sort);

/* By a process that helps, when it has mapped what it takes. */
extern void gpusort_team_job_begin(GpuSortTeam *team);

/* Nobody is to begin with it any more; wait until all who have have let go of it. */
extern void gpusort_team_job_close(GpuSort *sort);

/* Release what the job has taken, if there is one. */
extern void gpusort_team_withdraw(GpuSort *sort);

/*
 * Map extents, or a piece of a job, until the current memory context is reset; NULL if there is no
 * address space.
 */
extern char *gpusort_team_job_map_extents(const uint32 *list, uint32 count, bool writable);
extern char *gpusort_team_job_map(const TeamJob *job, TeamPiece piece, bool writable);

/* ... to be read, with private memory of as much as so many extents behind it. */
extern char *gpusort_team_job_map_before(const TeamJob *job, TeamPiece piece, uint32 more);

#endif							/* GPUSORT_TEAM_JOB_H */
