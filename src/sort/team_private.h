/*
 * team_private.h
 *		Several processes that put the rows of one sort in order; see sort.h.
 */
#ifndef GPUSORT_TEAM_PRIVATE_H
#define GPUSORT_TEAM_PRIVATE_H

#include "lib/stringinfo.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "engine/host/gs_sort.h"
#include "memory/pool.h"
#include "sort/refine_private.h"
#include "sort/sort.h"
#include "sort/state_private.h"

/* ---------- what the processes of a team share ---------- */

/*
 * The team itself lies in dynamic shared memory, and is small.  Everything that it works on lies in
 * extents of the pool that belong to the sort: the job, whose size depends on the sort, and the
 * planes and the workspace that the job names.
 */

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
	int			expected;		/* processes that are sure to help, and have not been waited for */
	bool		awaited;		/* processes that may help have been waited for */
	int			helpers;		/* processes that are there to help */
	int			users;			/* processes that have the job mapped, or are about to map it */
	int			begun;			/* processes that have begun with the job, or can't */
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
	size_t		words_offset;	/* where in that piece the words begin */
	TeamPiece	nulls;
	gs_null_order null_order;
	bool		numbered;		/* the words are bytes of strings */
} TeamPlane;

/* What a team's job is. */
typedef enum TeamJobKind
{
	TEAM_JOB_ENGINE,			/* run the engine */
	TEAM_JOB_SHARED,			/* find what the strings of a run share, in stretches of it */
	TEAM_JOB_WORDS,				/* fetch the words of a run, in stretches of it */
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
	size_t		equal_offset;	/* 0, or where in the job the bitmap lies instead */
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

static inline uint64 *
team_lent_equal(TeamEngineJob *job)
{
	return (uint64 *) ((char *) job + job->equal_offset);
}

/* ---------- the gate between the phases of a sort by several processes ---------- */

/* A phase ends when all that are inside the gate have arrived. */

/*
 * Take part in the engine's run for the open job, from whatever phase it is in to its end.  Returns
 * GS_CANCELLED if this process or another one was interrupted.
 */
extern gs_status gpusort_team_participate(GpuSortTeam *team, gs_participant *participant,
										  gs_shared_sort *shared);

/* Have the engine stop, in a team, for what ends the query or the session, and for nothing else. */
extern void gpusort_team_listen(gs_sort_args *args);

/* ---------- a team's job: making, opening and closing it, and mapping what it names ---------- */

/*
 * Describe the first `bytes` bytes of a range as a piece of the job's list, which has *total
 * extents so far.  Returns false if some of them are private memory.  If range is NULL the piece is
 * empty.
 */
extern bool gpusort_team_job_describe(const GpuSortRange *range, size_t bytes, TeamPiece *piece,
									  uint32 *total);

/* Put the numbers of a piece's extents into the list. */
extern void gpusort_team_job_list(const GpuSortRange *range, TeamPiece piece, uint32 *list);

/* Get so many bytes of the pool for the sort's job.  Returns false if there is no room. */
extern bool gpusort_team_job_make(GpuSort *sort, size_t bytes);

/* Let the team see the job, and begin with it. */
extern void gpusort_team_job_open(GpuSort *sort);

/*
 * Note that a process which helps begins with the job; called by that process when it has mapped
 * what it needs, or could not.
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
extern char *gpusort_team_job_map_with_room(const TeamJob *job, TeamPiece piece, uint32 more);

/* ---------- a sort of one process, lent to others that look into its rows in order ---------- */

/*
 * Each of these processes has a sort of its own, which consists of the lent sort's memory, mapped:
 * the rows and what points to them, the order, and which rows are equal.  That sort has no memory
 * of the pool to give back, takes no rows, and is gone with its memory context.
 */

/* A range of a lent sort. */
typedef struct LentRange
{
	int			role;
	TeamPiece	piece;
	size_t		bytes;
} LentRange;

/*
 * The description of a lent sort, in shared memory.  The data that its offsets point to follow it;
 * offsets count from the beginning of this struct.
 */
typedef struct LentSort
{
	GpuSortKind kind;
	int			nkeys;
	int			natts;			/* attributes of rows */
	bool		index_rows;
	bool		tells_equal;
	bool		tids_ordered;
	uint64		nrows;
	size_t		rows_used;
	GpuSortRowPlaces places;	/* its pointers are not valid */
	bool		refines;		/* ties are to be refined, with planes and workspace */
	int			refine_column;
	int			participants;
	size_t		memory_bytes;	/* private memory that each process may use */
	/* bytes that the strings of each column share, and that its prefixes leave out */
	size_t		bases;
	int			order_role;		/* role of the range in which the row ids in order lie */
	size_t		order_offset;	/* where in that range they begin */
	int			nranges;
	size_t		attnos;
	size_t		sortops;
	size_t		collations;
	size_t		nulls_first;
	size_t		desc;
	size_t		granules;
	size_t		ranges;
} LentSort;

/*
 * Append the description of a sort to `to`, and the numbers of the extents that it consists of to
 * `list`.  refines: others are to refine ties, not just to look at rows.  Returns false if some of
 * the sort is private memory.
 */
extern bool gpusort_lend(GpuSort *sort, bool refines, StringInfo to, StringInfo list);

/*
 * Returns a sort of this process that consists of a lent sort's memory, until the current memory
 * context is reset.  Returns NULL if there is no address space for it.
 */
extern GpuSort *gpusort_borrow(const TeamJob *job, const LentSort *lent);

/* ---------- dealing out work on the order to a team, in stretches of it ---------- */

/*
 *	process that has the sort	gpusort_deal_out(), gpusort_take_stretch() ...,
 *								gpusort_await_stretches()
 *	processes that help			gpusort_take_stretch() ...
 *
 * What they found lies in the job until the team is withdrawn (gpusort_team_withdraw()).
 */

/*
 * Positions from .. to - 1 of the order.  If ties are refined, the rows there tie on all of the key
 * before `place`.
 */
typedef struct TeamStretch
{
	uint64		from;
	uint64		to;
	KeyPlace	place;
} TeamStretch;

/* How many positions may be noted.  Of positions beyond that only the number is kept. */
#define TEAM_MAX_NOTED	1024

/* How many runs may be left to the process that has the sort. */
#define TEAM_MAX_LEFT	256

/* A job that consists of stretches, followed by what its offsets point to. */
typedef struct TeamStretches
{
	TeamJob		job;
	size_t		sort_offset;	/* where the lent sort begins */
	size_t		stretches_offset;
	uint32		count;
	pg_atomic_uint32 next;		/* the first stretch that no process has taken */
	pg_atomic_uint32 scratches;	/* how many parts of the workspace processes have taken */
	/* private memory for keys that processes which have helped had, together */
	pg_atomic_uint64 memory_bytes;
	pg_atomic_uint32 nnoted;
	uint64		noted[TEAM_MAX_NOTED];
	pg_atomic_uint32 nleft;
	TeamStretch left[TEAM_MAX_LEFT];
	/* what processes have found in the stretches of a run */
	pg_atomic_uint32 shared;	/* how many bytes all strings share */
	pg_atomic_uint32 differ;	/* whether two rows of some stretch differ */
	pg_atomic_uint32 refused;	/* whether some word could not be had */
} TeamStretches;

static inline const LentSort *
team_lent_sort(const TeamStretches *job)
{
	return (const LentSort *) ((const char *) job + job->sort_offset);
}

/*
 * Returns whether work on so many rows is to be dealt out: whether there is a team, or workers that
 * can be started as one, and enough to do for having it help to pay.
 */
extern bool gpusort_may_deal_out(GpuSort *sort, uint64 rows);

/*
 * Let the team take stretches of a sort's order, as this process does.  Returns NULL if there is
 * but one stretch, or if other processes can't see the sort.
 */
extern TeamStretches *gpusort_deal_out(GpuSort *sort, TeamJobKind kind,
									   const TeamStretch *stretches, uint32 count);

/* Take a stretch that no process has taken.  Returns false if there is none. */
extern bool gpusort_take_stretch(TeamStretches *job, TeamStretch *stretch);

/*
 * While ties are refined, each process has a part of the engine's workspace to sort runs in, of
 * gpusort_scratch_bytes() bytes.  The process that has the sort has the first part.  A process that
 * helps takes one with gpusort_take_scratch(), which returns false if there is none left.
 */
extern size_t gpusort_scratch_bytes(const GpuSort *sort);
extern bool gpusort_take_scratch(GpuSort *sort, TeamStretches *job);

/* Note the position of a row that is not in the right relation to the row before. */
extern void gpusort_note_position(TeamStretches *job, uint64 position);

/*
 * Leave a run, whose rows tie on all of the key before `place`, to the process that has the sort.
 * That process can keep keys in the pool, and refines the run when all stretches are done.  Returns
 * false in that process itself, and if no more runs can be left.
 */
extern bool gpusort_leave_run(GpuSort *sort, const uint32 *ids, uint32 n, KeyPlace place);

/*
 * Returns how many runs other processes have left.  To be called when they are done with their
 * stretches.
 */
extern uint32 gpusort_team_runs_left(TeamStretches *job);

/* Wait until the other processes are done with their stretches. */
extern void gpusort_await_stretches(GpuSort *sort);

/* ---------- running the engine with a team: what the process that has the sort does ---------- */

/*
 * Run the engine, together with those processes of the sort's team that are there or come
 * meanwhile.  Planes lie in ranges of the sort, not at the beginning of these necessarily, and the
 * workspace is the sort's.  The result's layout is valid until the team is withdrawn
 * (gpusort_team_withdraw()).
 *
 * Returns false if there is no room in the pool for what the team shares, if some of the planes or
 * of the workspace is private memory, or if one of the processes was interrupted and has gone on:
 * then the planes are as before, and one process can sort.
 */
extern bool gpusort_team_run(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result);

/* ---------- parallel workers that help one process to put its rows in order ---------- */

/*
 * Start workers as the team of a sort that has none, if that pays for so many rows.  Returns false
 * if it does not, or if no workers are to be had.
 */
extern bool gpusort_start_sort_workers(GpuSort *sort, uint64 rows);

/* End the workers, if some were started, when the rows are in order. */
extern void gpusort_end_sort_workers(GpuSort *sort);

#endif							/* GPUSORT_TEAM_PRIVATE_H */
