/*
 * table_turns.c
 *		Turns of processes that fill pages of a table; see table_turns.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"

#include "pg_compat.h"
#include "table/table_turns.h"
#include "team/worker_wait.h"

static uint32 wait_event = 0;

void
gpusort_turns_init(GpuSortTurns *turns)
{
	memset(turns, 0, sizeof(*turns));
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
gpusort_turns_pass(GpuSortTurns *turns, uint64 slice)
{
	set_turn(turns, slice + 1, false);
}

void
gpusort_turns_leave(GpuSortTurns *turns, uint64 slice)
{
	set_turn(turns, slice, true);
}

bool
gpusort_turns_await(GpuSortTurns *turns, uint64 slice, uint64 *left)
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
