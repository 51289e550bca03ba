/*
 * collect_meeting.c
 *		The meeting of the participants of a collected sort; see exec_private.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "utils/wait_event.h"

#include "exec/exec_private.h"
#include "pg_compat.h"
#include "team/worker_wait.h"

/* The wait event of a leader that waits here. */
static uint32 wait_event = 0;

void
gpusort_meeting_init(GpuSortMeeting *meeting, bool called_off)
{
	memset(meeting, 0, sizeof(*meeting));
	SpinLockInit(&meeting->mutex);
	ConditionVariableInit(&meeting->changed);
	meeting->called_off = called_off;
}

bool
gpusort_meeting_enter(GpuSortMeeting *meeting)
{
	bool		entered;

	SpinLockAcquire(&meeting->mutex);
	entered = !meeting->over;
	if (entered)
		meeting->collecting++;
	if (!IsParallelWorker())
		meeting->leader_came = true;
	SpinLockRelease(&meeting->mutex);
	return entered;
}

void
gpusort_meeting_call_off(GpuSortMeeting *meeting)
{
	SpinLockAcquire(&meeting->mutex);
	meeting->called_off = true;
	SpinLockRelease(&meeting->mutex);
	ConditionVariableBroadcast(&meeting->changed);
}

bool
gpusort_meeting_arrive(GpuSortMeeting *meeting)
{
	bool		takes_place;

	SpinLockAcquire(&meeting->mutex);
	meeting->collecting--;
	takes_place = meeting->leader_came && !meeting->called_off;
	SpinLockRelease(&meeting->mutex);
	ConditionVariableBroadcast(&meeting->changed);
	return takes_place;
}

/*
 * Returns whether the leader need not wait any longer, since all have collected or the meeting was
 * called off.  In the former case the meeting is over.
 */
static bool
end_waiting(GpuSortMeeting *meeting)
{
	bool		ended;

	SpinLockAcquire(&meeting->mutex);
	meeting->over = meeting->collecting == 0 && !meeting->called_off;
	ended = meeting->over || meeting->called_off;
	SpinLockRelease(&meeting->mutex);
	return ended;
}

bool
gpusort_meeting_await(GpuSortMeeting *meeting)
{
	SpinLockAcquire(&meeting->mutex);
	meeting->collecting--;
	SpinLockRelease(&meeting->mutex);
	ConditionVariablePrepareToSleep(&meeting->changed);
	while (!end_waiting(meeting))
		gpusort_worker_await(&meeting->changed, gpusort_wait_event(&wait_event, "GpuSortCollect"));
	ConditionVariableCancelSleep();
	return meeting->over;
}
