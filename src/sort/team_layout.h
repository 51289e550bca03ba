/*
 * team_layout.h
 *		What the processes of a team share.
 *
 * The team itself lies in dynamic shared memory, and is small.  What it works on lies in extents of
 * the pool that are the sort's: the job, whose size depends on the sort, and the planes and the
 * workspace that it names.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_LAYOUT_H
#define GPUSORT_TEAM_LAYOUT_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "engine/host/gs_shared_sort.h"
#include "memory/pool.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Most extents of what is shared beside planes and workspace: enough for 10^9 rows and 50 processes. */
#define TEAM_MAX_EXTENTS	512

struct GpuSortTeam
{
	slock_t		mutex;
	ConditionVariable changed;	/* any of what follows, all of it under the mutex */
	bool		dismissed;
	bool		open;			/* there is a job that may be helped with */
	uint32		number;			/* of that job */
	uint32		phase;			/* of the engine */
	int			helpers;		/* processes that are there to help, or are sure to come */
	int			users;			/* ... that have the job mapped, or are about to */
	int			inside;			/* ... that take part in phases, */
	int			arrived;		/* ... and are through with the present one */
	uint32		count;			/* extents that the job lies in */
	uint32		extents[TEAM_MAX_EXTENTS];
};

/* Some of the job's list of extents. */
typedef struct TeamPiece
{
	uint32		first;
	uint32		count;			/* 0: there is none */
} TeamPiece;

typedef struct TeamPlane
{
	TeamPiece	words;
	TeamPiece	nulls;
	gs_null_order null_order;
	bool		numbered;		/* the words are bytes of strings */
} TeamPlane;

/* At the beginning of the job's extents; the same in all processes, so that it has no addresses. */
typedef struct TeamJobHeader
{
	uint64		nrows;
	uint32		nplanes;
	uint32		participants;	/* that there may be */
	bool		want_keys;
	TeamPiece	workspace;
	TeamPiece	equal;
	size_t		workspace_bytes;
	size_t		list_offset;	/* of extents that planes and workspace lie in */
	size_t		shared_offset;	/* of the engine's part */
	TeamPlane	planes[FLEXIBLE_ARRAY_MEMBER];
} TeamJobHeader;

static inline const uint32 *
team_list(const TeamJobHeader *job)
{
	return (const uint32 *) ((const char *) job + job->list_offset);
}

static inline gs_shared_sort *
team_shared_sort(TeamJobHeader *job)
{
	return (gs_shared_sort *) ((char *) job + job->shared_offset);
}

/*
 * Take part in the open job, from whatever phase it is in to its end.  GS_CANCELLED: this process was
 * interrupted, or another one.
 */
extern gs_status gpusort_team_participate(GpuSortTeam *team, gs_participant *participant,
										  gs_shared_sort *shared);

/* What the engine stops for in a team: what ends the query or the session. */
extern void gpusort_team_listen(gs_sort_args *args);

#endif							/* GPUSORT_TEAM_LAYOUT_H */
