/*
 * turns.h
 *		Slices that the participants of a job do side by side, but put in place in turn.
 *
 * A participant that has nothing to do takes the next slice, and makes what it needs on its own.
 * When it is the slice's turn, the participant puts that in place, which must not take long, and
 * the turn passes to the next slice.  What is left to do is finished while other slices have their
 * turns.  Slices are taken in order, so some participant has taken the slice whose turn it is.
 *
 * A worker that can't make a slice leaves it to the leader, which makes it in the slice's turn, and
 * takes another slice.
 *
 * All slices may be known from the start; or the leader adds them one by one, and closes the turns
 * when there will be no more.  The turns may also be ended in the turn of some slice: those behind
 * it then never have their turns, whether they were made or not.
 */
#ifndef GPUSORT_TURNS_H
#define GPUSORT_TURNS_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

/* The state of the turns.  In shared memory if there are workers. */
typedef struct GpuSortTurns
{
	slock_t		mutex;			/* protects what follows, but the condition variables */
	uint64		count;			/* number of slices that there are, or that have turns */
	bool		closed;			/* there will be no more */
	uint64		next;			/* first slice that nobody has taken */
	uint64		turn;			/* slice whose turn it is */
	uint64		left;			/* bit i: slice turn + i was left to the leader */

	ConditionVariable turned;	/* the turn has passed, or a slice was left */
	ConditionVariable added;	/* there are slices to take, or the turns are closed */
} GpuSortTurns;

/*
 * A participant that does slices, and how it does one.  `left` says that the participant is the
 * leader, and the slice one that was left to it.  While it waits for the turn of a slice of its
 * own, the leader does slices that were left to it.  So what it has made of its own slice is kept
 * apart from them.
 */
typedef struct GpuSortSliceDoer
{
	GpuSortTurns *turns;
	void	   *arg;			/* what the functions below are called with */

	/* Returns false if this participant can't make the slice. */
	bool		(*make) (void *arg, uint64 slice, bool left);
	void		(*place) (void *arg, bool left);
	void		(*finish) (void *arg, bool left);
	/* Drops what was made of a slice that was not left: all of it, or as much as could be made. */
	void		(*forget) (void *arg);
} GpuSortSliceDoer;

/* ---------- how many slices there are ---------- */

/* Begins with the first of so many slices, whose turn it is then.  No slices can be added. */
extern void gpusort_turns_init(GpuSortTurns *turns, uint64 count);

/* Begins without slices; the leader adds them one by one. */
extern void gpusort_turns_open(GpuSortTurns *turns);

/* Adds a slice, unless the turns were ended. */
extern void gpusort_turns_add(GpuSortTurns *turns);

/* Says that no slices will be added any more. */
extern void gpusort_turns_close(GpuSortTurns *turns);

/* To be called when a slice is put in place: it is the last one that has a turn. */
extern void gpusort_turns_end(GpuSortTurns *turns);

/* ---------- doing slices ---------- */

/*
 * Takes slices and does them, until there are none left, and waits for slices to be added.  The
 * leader returns when all slices have had their turns; other participants may still have to finish
 * theirs.
 */
extern void gpusort_turns_do_slices(const GpuSortSliceDoer *doer);

/* Takes a slice and does it; returns whether there was one. */
extern bool gpusort_turns_do_slice(const GpuSortSliceDoer *doer);

/* In the leader: does the slice whose turn it is if it was left; returns whether it was. */
extern bool gpusort_turns_do_left(const GpuSortSliceDoer *doer);

/*
 * Waits until it is the slice's turn, and returns true; or until all slices have had their turns,
 * and returns false.
 */
extern bool gpusort_turns_await(const GpuSortSliceDoer *doer, uint64 slice);

/* Waits until all slices have had their turns. */
extern void gpusort_turns_await_all(const GpuSortSliceDoer *doer);

/*
 * In the leader: waits for a turn to pass, but not for long, and not at all if it is the turn of a
 * slice that was left, or of none.
 */
extern void gpusort_turns_await_turn(GpuSortTurns *turns);

/* In a worker: leaves a slice that it has taken to the leader. */
extern void gpusort_turns_leave(GpuSortTurns *turns, uint64 slice);

#endif							/* GPUSORT_TURNS_H */
