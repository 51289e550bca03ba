/*
 * turns.h
 *		Slices that the participants of a job do side by side, but put in place in turn.
 *
 * Slices are dealt out to the participants.  One that has nothing to do takes the next slice, and
 * makes what it needs on its own.  When it is the slice's turn, the participant puts that in place,
 * which must not take long, and the turn passes to the next slice.  What is left to do is finished
 * while other slices have their turns.  Slices are taken in order, so some participant has taken
 * the slice whose turn it is.  A worker that can't make a slice leaves it to the leader, which
 * makes it in the slice's turn.
 */
#ifndef GPUSORT_TURNS_H
#define GPUSORT_TURNS_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

/* The state of the turns.  In shared memory if there are workers. */
typedef struct GpuSortTurns
{
	uint64		count;			/* number of slices */
	pg_atomic_uint64 next;		/* first slice that nobody has taken */

	slock_t		mutex;			/* protects `turn` and `left` */
	uint64		turn;			/* slice whose turn it is */
	bool		left;			/* a worker has left that slice to the leader */
	ConditionVariable turned;
} GpuSortTurns;

/*
 * A participant that does slices, and how it does one.  `left` says that the participant is the
 * leader, and the slice one that a worker has left to it.  While it waits for the turn of a slice
 * of its own, the leader does slices that were left to it.  So what it has made of its own slice is
 * kept apart from them.
 */
typedef struct GpuSortSliceDoer
{
	GpuSortTurns *turns;
	void	   *arg;			/* what the functions below are called with */

	/* Returns false, with nothing made, if this participant can't make the slice. */
	bool		(*make) (void *arg, uint64 slice, bool left);
	void		(*place) (void *arg, bool left);
	void		(*finish) (void *arg, bool left);
} GpuSortSliceDoer;

/* Begins with the first of so many slices, whose turn it is then. */
extern void gpusort_turns_init(GpuSortTurns *turns, uint64 count);

/*
 * Takes slices and does them, until there are none left.  The leader returns when all slices have
 * had their turns; other participants may still have to finish theirs.
 */
extern void gpusort_turns_do_slices(const GpuSortSliceDoer *doer);

/*
 * Waits until it is the slice's turn; or, if there is no such slice any more, until all have had
 * theirs.
 */
extern void gpusort_turns_await(const GpuSortSliceDoer *doer, uint64 slice);

/* Leaves the slice, whose turn it is, to the leader. */
extern void gpusort_turns_leave(GpuSortTurns *turns, uint64 slice);

#endif							/* GPUSORT_TURNS_H */
