/*
 * team_stretches.h
 *		Dealing out work on the order of a sort's rows to its team, in stretches of the order.
 *
 *	process that has the sort	gpusort_deal_out(), gpusort_take_stretch() ...,
 *								gpusort_await_stretches()
 *	processes that help			gpusort_take_stretch() ...
 *
 * What they found lies in the job until the team is withdrawn (gpusort_team_withdraw()).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_STRETCHES_H
#define GPUSORT_TEAM_STRETCHES_H

#include "sort/key_place.h"
#include "sort/sort_lent.h"
#include "sort/team_layout.h"

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
 * Let the team take stretches of a sort's order, as this process does.  Returns NULL if other
 * processes can't see the sort.
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
extern uint32 gpusort_runs_left(TeamStretches *job);

/* Wait until the other processes are done with their stretches. */
extern void gpusort_await_stretches(GpuSort *sort);

#endif							/* GPUSORT_TEAM_STRETCHES_H */
