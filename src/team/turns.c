/*
 * turns.c
 *		Slices that the participants of a job put in place in turn; see turns.h.
 */
#include "postgres.h"

#include "access/parallel.h"

#include "pg_compat.h"
#include "team/turns.h"
#include "team/worker_wait.h"

static uint32 wait_event = 0;

void
gpusort_turns_init(GpuSortTurns *turns, uint64 count)
{
	memset(turns, 0, sizeof(*turns));
	turns->count = count;
	pg_atomic_init_u64(&turns->next, 0);
	SpinLockInit(&turns->mutex);
	ConditionVariableInit(&turns->turned);
}

static void
look_at_turn(GpuSortTurns *turns, uint64 *turn, bool *left)
{
	SpinLockAcquire(&turns->mutex);
	*turn = turns->turn;
	*left = turns->left;
	SpinLockRelease(&turns->mutex);
}

static void
set_turn(GpuSortTurns *turns, uint64 turn, bool left)
{
	SpinLockAcquire(&turns->mutex);
	turns->turn = turn;
	turns->left = left;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->turned);
}

void
gpusort_turns_leave(GpuSortTurns *turns, uint64 slice)
{
	set_turn(turns, slice, true);
}

/* Puts a slice in place that was made, and whose turn it is; passes the turn on, and finishes. */
static void
have_turn(const GpuSortSliceDoer *doer, uint64 slice, bool left)
{
	doer->place(doer->arg, left);
	set_turn(doer->turns, slice + 1, false);
	doer->finish(doer->arg, left);
}

/*
 * Waits until it is the slice's turn, and returns true; or, in the leader, until another slice was
 * left to it, *left, whose turn it is, and returns false.
 */
static bool
await_turn(GpuSortTurns *turns, uint64 slice, uint64 *left)
{
	bool		is_left;

	for (;;)
	{
		look_at_turn(turns, left, &is_left);
		if (is_left ? !IsParallelWorker() : *left == slice)
			break;
		gpusort_worker_await(&turns->turned, gpusort_wait_event(&wait_event, "GpuSortIntoTurn"));
	}
	ConditionVariableCancelSleep();
	return !is_left;
}

void
gpusort_turns_await(const GpuSortSliceDoer *doer, uint64 slice)
{
	uint64		left;

	while (!await_turn(doer->turns, slice, &left))
	{
		(void) doer->make(doer->arg, left, true);
		have_turn(doer, left, true);
	}
}

void
gpusort_turns_do_slices(const GpuSortSliceDoer *doer)
{
	GpuSortTurns *turns = doer->turns;
	uint64		slice;

	while ((slice = pg_atomic_fetch_add_u64(&turns->next, 1)) < turns->count)
	{
		bool		made = doer->make(doer->arg, slice, false);

		gpusort_turns_await(doer, slice);
		if (made)
			have_turn(doer, slice, false);
		else
			gpusort_turns_leave(turns, slice);
	}
	if (!IsParallelWorker())
		gpusort_turns_await(doer, turns->count);
}
