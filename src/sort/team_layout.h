/*
 * team_layout.h
 *		What the processes of a team share.
 *
 * The team itself lies in dynamic shared memory, and is small.  Everything that it works on lies in
 * extents of the pool that belong to the sort: the job, whose size depends on the sort, and the
 * planes and the workspace that the job names.
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

/* Key of the team in the shared memory of workers that are started for it. */
#define TEAM_CHUNK_KEY		UINT64CONST(0x4753000000000201)

/*
 * Most extents of a job, planes and workspace not included: enough for 10^9 rows and 50 processes.
 */
#define TEAM_MAX_EXTENTS	512

struct GpuSortTeam
{
	slock_t		mutex;
	/* signals changes of the fields below, all of which the mutex protects */
	ConditionVariable changed;
	bool		dismissed;
	bool		open;			/* there is a job that processes may help with */
	uint32		number;			/* number of the last job that was opened */
	uint32		phase;			/* phase that the engine is in */
	int			helpers;		/* processes that are there to help, or are sure to come */
	int			users;			/* processes that have the job mapped, or are about to map it */
	int			begun;			/* processes that have begun with the job */
	int			inside;			/* processes that are inside the gate, and take part in phases */
	int			arrived;		/* processes inside that are through with the present phase */
	uint32		count;			/* how many extents the job lies in */
	uint32		extents[TEAM_MAX_EXTENTS];
};

/* A part of the job's list of extents. */
typedef struct TeamPiece
{
	uint32		first;
	uint32		count;			/* 0: the piece is empty */
} TeamPiece;

typedef struct TeamPlane
{
	TeamPiece	words;
	TeamPiece	nulls;
	gs_null_order null_order;
	bool		numbered;		/* the words are bytes of strings */
} TeamPlane;

/* What a team's job is. */
typedef enum TeamJobKind
{
	TEAM_JOB_ENGINE,			/* run the engine */
	TEAM_JOB_REFINE,			/* put rows that tie in order, in stretches of the order */
	TEAM_JOB_VERIFY				/* compare neighbours, in stretches of the order */
} TeamJobKind;

/*
 * What all kinds of jobs begin with, at the start of the job's extents; what the kind needs
 * follows.  All processes see the same memory at different addresses, so the job holds none.
 */
typedef struct TeamJob
{
	TeamJobKind kind;
	size_t		list_offset;	/* where the list of extents that have to be mapped begins */
} TeamJob;

typedef struct TeamEngineJob
{
	TeamJob		job;
	uint64		nrows;
	uint32		nplanes;
	uint32		participants;	/* most processes that may take part */
	bool		want_keys;
	TeamPiece	workspace;
	TeamPiece	equal;
	size_t		workspace_bytes;
	size_t		shared_offset;	/* where the engine's own shared memory begins */
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
