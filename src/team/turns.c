/*
 * turns.c
 *		Slices that the participants of a job put in place in turn; see turns.h.
 */
#include "postgres.h"

#include "access/parallel.h"

#include "pg_compat.h"
#include "team/turns.h"
#include "team/worker_wait.h"

/* How far ahead of the turn a slice may be when it is left to the leader: bits of `left`. */
#define MAX_AHEAD		64

/* Wait events. */
static uint32 wait_for_turn = 0;
static uint32 wait_for_slice = 0;
static uint32 wait_for_others = 0;

/* ---------- how many slices there are ---------- */

static void
init_turns(GpuSortTurns *turns, uint64 count, bool closed)
{
	memset(turns, 0, sizeof(*turns));
	SpinLockInit(&turns->mutex);
	turns->count = count;
	turns->closed = closed;
	ConditionVariableInit(&turns->turned);
	ConditionVariableInit(&turns->added);
}

void
gpusort_turns_init(GpuSortTurns *turns, uint64 count)
{
	init_turns(turns, count, true);
}

void
gpusort_turns_open(GpuSortTurns *turns)
{
	init_turns(turns, 0, false);
}

void
gpusort_turns_add(GpuSortTurns *turns)
{
	SpinLockAcquire(&turns->mutex);
	if (!turns->closed)
		turns->count++;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->added);
}

void
gpusort_turns_close(GpuSortTurns *turns)
{
	SpinLockAcquire(&turns->mutex);
	turns->closed = true;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->added);
}

void
gpusort_turns_end(GpuSortTurns *turns)
{
	SpinLockAcquire(&turns->mutex);
	turns->count = turns->turn + 1;
	turns->closed = true;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->added);
}

/* ---------- whose turn it is ---------- */

typedef enum TurnState
{
	TURN_OTHERS,				/* another slice's, or there is no slice yet that could have it */
	TURN_LEFT,					/* another slice's that was left to the leader */
	TURN_MINE,
	TURN_OVER					/* all slices have had their turns */
} TurnState;

/* Has the caller hold the mutex. */
static bool
are_over(const GpuSortTurns *turns)
{
	return turns->closed && turns->turn >= turns->count;
}

static TurnState
look_at_turn(GpuSortTurns *turns, uint64 slice, uint64 *turn)
{
	TurnState	state = TURN_OTHERS;

	SpinLockAcquire(&turns->mutex);
	*turn = turns->turn;
	if (are_over(turns))
		state = TURN_OVER;
	else if (turns->turn == slice)
		state = TURN_MINE;
	else if (turns->left & 1)
		state = TURN_LEFT;
	SpinLockRelease(&turns->mutex);
	return state;
}

/* Puts a slice in place that was made, and whose turn it is; passes the turn on, and finishes. */
static void
have_turn(const GpuSortSliceDoer *doer, bool left)
{
	GpuSortTurns *turns = doer->turns;

	doer->place(doer->arg, left);
	SpinLockAcquire(&turns->mutex);
	turns->turn++;
	turns->left >>= 1;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->turned);
	doer->finish(doer->arg, left);
}

/* Does a slice, whose turn it is, as one that was left to the leader. */
static void
do_left(const GpuSortSliceDoer *doer, uint64 slice)
{
	(void) doer->make(doer->arg, slice, true);
	have_turn(doer, true);
}

bool
gpusort_turns_do_left(const GpuSortSliceDoer *doer)
{
	uint64		slice;

	if (look_at_turn(doer->turns, PG_UINT64_MAX, &slice) != TURN_LEFT)
		return false;
	do_left(doer, slice);
	return true;
}

bool
gpusort_turns_await(const GpuSortSliceDoer *doer, uint64 slice)
{
	GpuSortTurns *turns = doer->turns;
	TurnState	state;
	uint64		turn;

	while ((state = look_at_turn(turns, slice, &turn)) == TURN_OTHERS || state == TURN_LEFT)
	{
		if (state == TURN_LEFT && !IsParallelWorker())
		{
			ConditionVariableCancelSleep();
			do_left(doer, turn);
		}
		else
			gpusort_worker_await(&turns->turned, gpusort_wait_event(&wait_for_turn, "GpuSortTurn"));
	}
	ConditionVariableCancelSleep();
	return state == TURN_MINE;
}

void
gpusort_turns_await_all(const GpuSortSliceDoer *doer)
{
	(void) gpusort_turns_await(doer, PG_UINT64_MAX);
}

void
gpusort_turns_await_turn(GpuSortTurns *turns)
{
	bool		waits;

	ConditionVariablePrepareToSleep(&turns->turned);
	SpinLockAcquire(&turns->mutex);
	waits = turns->turn < turns->count && (turns->left & 1) == 0;
	SpinLockRelease(&turns->mutex);
	if (waits)
		gpusort_worker_await(&turns->turned,
							 gpusort_wait_event(&wait_for_others, "GpuSortTurnOthers"));
	ConditionVariableCancelSleep();
}

/* Leaves a slice if it is not too far ahead; otherwise returns false. */
static bool
try_leave(GpuSortTurns *turns, uint64 slice)
{
	bool		over;
	bool		near;

	SpinLockAcquire(&turns->mutex);
	over = are_over(turns);
	near = slice - turns->turn < MAX_AHEAD;
	if (!over && near)
		turns->left |= UINT64CONST(1) << (slice - turns->turn);
	SpinLockRelease(&turns->mutex);
	return over || near;
}

void
gpusort_turns_leave(GpuSortTurns *turns, uint64 slice)
{
	while (!try_leave(turns, slice))
		gpusort_worker_await(&turns->turned, gpusort_wait_event(&wait_for_turn, "GpuSortTurn"));
	ConditionVariableCancelSleep();
	ConditionVariableBroadcast(&turns->turned);
}

/* ---------- taking slices ---------- */

typedef enum TakeResult
{
	TAKE_TAKEN,
	TAKE_NONE_YET,
	TAKE_NONE_EVER
} TakeResult;

/* Takes a slice; or, if `slice` is NULL, only looks whether there is one to take. */
static TakeResult
take_slice(GpuSortTurns *turns, uint64 *slice)
{
	TakeResult	result;

	SpinLockAcquire(&turns->mutex);
	if (turns->next < turns->count)
	{
		result = TAKE_TAKEN;
		if (slice != NULL)
			*slice = turns->next++;
	}
	else
		result = turns->closed ? TAKE_NONE_EVER : TAKE_NONE_YET;
	SpinLockRelease(&turns->mutex);
	return result;
}

bool
gpusort_turns_do_slice(const GpuSortSliceDoer *doer)
{
	GpuSortTurns *turns = doer->turns;
	uint64		slice;
	bool		made;

	if (take_slice(turns, &slice) != TAKE_TAKEN)
		return false;
	made = doer->make(doer->arg, slice, false);
	if (!made)
		doer->forget(doer->arg);
	if (!made && IsParallelWorker())
		gpusort_turns_leave(turns, slice);
	else if (gpusort_turns_await(doer, slice))
	{
		if (made)
			have_turn(doer, false);
		else
			do_left(doer, slice);
	}
	else if (made)
		doer->forget(doer->arg);
	return true;
}

/* Waits until there may be a slice to take; returns false if there won't be one. */
static bool
await_slice(GpuSortTurns *turns)
{
	TakeResult	result;

	while ((result = take_slice(turns, NULL)) == TAKE_NONE_YET)
		gpusort_worker_await(&turns->added, gpusort_wait_event(&wait_for_slice, "GpuSortTurnSlice"));
	ConditionVariableCancelSleep();
	return result == TAKE_TAKEN;
}

void
gpusort_turns_do_slices(const GpuSortSliceDoer *doer)
{
	while (gpusort_turns_do_slice(doer) || await_slice(doer->turns))
		continue;
	if (!IsParallelWorker())
		gpusort_turns_await_all(doer);
}
