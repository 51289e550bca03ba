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
#include "sort/sort_team.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Of the team, in the shared memory of workers that are started for it. */
#define TEAM_CHUNK_KEY		UINT64CONST(0x4753000000000201)

/*
 * Most extents of what is shared beside planes and workspace: enough for 10^9 rows and 50
 * processes.
 */
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
	int			begun;			/* ... that have begun with it, */
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

/* What is to be done. */
typedef enum TeamJobKind
{
	TEAM_JOB_ENGINE,			/* run the engine */
	TEAM_JOB_REFINE,			/* put rows in order that tie, in stretches of the order */
	TEAM_JOB_VERIFY				/* compare neighbours, in stretches of it */
} TeamJobKind;

/*
 * At the beginning of the job's extents, and followed by what its kind takes; the same in all
 * processes, so that there are no addresses.
 */
typedef struct TeamJob
{
	TeamJobKind kind;
	size_t		list_offset;	/* of extents that have to be mapped */
} TeamJob;

typedef struct TeamEngineJob
{
	TeamJob		job;
	uint64		nrows;
	uint32		nplanes;
	uint32		participants;	/* that there may be */
	bool		want_keys;
	TeamPiece	workspace;
	TeamPiece	equal;
	size_t		workspace_bytes;
	size_t		shared_offset;	/* of the engine's part */
	TeamPlane	planes[FLEXIBLE_ARRAY_MEMBER];
} TeamEngineJob;

static inline const uint32 *
team_list(const TeamJob *job)
{
	return (const uint32 *) ((const char *) job + job->list_offset);
}

static inline gs_shared_sort *
team_shared_sort(TeamEngineJob *job)
{
	return (gs_shared_sort *) ((char *) job + job->shared_offset);
}

#endif							/* GPUSORT_TEAM_LAYOUT_H */
