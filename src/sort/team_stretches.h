/*
 * team_stretches.h
 *		Work on a sort's rows in order that is dealt out to its team in stretches.
 *
 *	who has the sort	gpusort_deal_out(), gpusort_take_stretch() ..., gpusort_await_stretches()
 *	others				gpusort_take_stretch() ...
 *
 * What was found lies in the job until the team is withdrawn (team_job.h).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_TEAM_STRETCHES_H
#define GPUSORT_TEAM_STRETCHES_H

#include "sort/key_place.h"
#include "sort/sort_lent.h"
#include "sort/team_layout.h"

/* Positions; if ties are refined there, of rows that tie on all before the place. */
typedef struct TeamStretch
{
	uint64		from;
	uint64		to;
	KeyPlace	place;
} TeamStretch;

/* Positions that are noted; of more there is the number only. */
#define TEAM_MAX_NOTED	1024

/* Runs that may be left to the process that has the sort. */
#define TEAM_MAX_LEFT	256

/* A job, followed by what its offsets point to. */
typedef struct TeamStretches
{
	TeamJob		job;
	size_t		sort_offset;	/* of the lent sort */
	size_t		stretches_offset;
	uint32		count;
	pg_atomic_uint32 next;		/* stretch that no process has taken */
	pg_atomic_uint32 scratches;	/* parts of the workspace that processes have */
	pg_atomic_uint64 memory_bytes;	/* that those who have helped had for keys, together */
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
 * Is there a team, or workers that can be one, and so much to be done for so many rows that it pays to
 * have it help?
 */
extern bool gpusort_may_deal_out(GpuSort *sort, uint64 rows);

/* Let the team take stretches of a sort's order, too; NULL if it can't see the sort. */
extern TeamStretches *gpusort_deal_out(GpuSort *sort, TeamJobKind kind, const TeamStretch *stretches,
									   uint32 count);

/* Take one that nobody has taken; false if there is none. */
extern bool gpusort_take_stretch(TeamStretches *job, TeamStretch *stretch);

/*
 * While ties are refined, each process has a part of the engine's workspace, the one that has the
 * sort the first; of so many bytes.  A process that helps takes one; false if there is none.
 */
extern size_t gpusort_scratch_bytes(const GpuSort *sort);
extern bool gpusort_take_scratch(GpuSort *sort, TeamStretches *job);

/* Note a position. */
extern void gpusort_note_position(TeamStretches *job, uint64 position);

/*
 * Leave a run, of rows that tie on all before the place, to the process that has the sort, which keeps
 * keys in the pool and refines it when all stretches are done.  False in that process itself, and where
 * no more can be left.
 */
extern bool gpusort_leave_run(GpuSort *sort, const uint32 *ids, uint32 n, KeyPlace place);

/* How many runs the others have left; to be asked when they have done theirs. */
extern uint32 gpusort_runs_left(TeamStretches *job);

/* Wait until the others have done theirs. */
extern void gpusort_await_stretches(GpuSort *sort);

#endif							/* GPUSORT_TEAM_STRETCHES_H */
