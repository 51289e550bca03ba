/*
 * team_gate.c
 *		The gate between the phases of a sort by several processes; see team_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pg_compat.h"
#include "sort/team_private.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* The wait event of this file, which is registered when it is first used. */
static uint32 wait_event = 0;

/*
 * Enters the gate, which processes may do at any time.  Returns the phase that those inside are in.
 */
static uint32
enter_gate(GpuSortTeam *team)
{
	uint32		phase;

	SpinLockAcquire(&team->mutex);
	team->inside++;
	phase = team->phase;
	SpinLockRelease(&team->mutex);
	return phase;
}

/*
 * Opens the gate, for all to go on to the next phase, if the last process inside has arrived.
 * Returns whether it has.  The caller holds the mutex.
 */
static bool
opens(GpuSortTeam *team)
{
	if (team->inside == 0 || team->arrived < team->inside)
		return false;
	team->arrived = 0;
	team->phase++;
	return true;
}

/* Waits until all processes inside the gate have arrived at it. */
static void
pass_gate(GpuSortTeam *team)
{
	uint32		phase;
	bool		opened;

	SpinLockAcquire(&team->mutex);
	phase = team->phase;
	team->arrived++;
	opened = opens(team);
	SpinLockRelease(&team->mutex);
	if (opened)
	{
		ConditionVariableBroadcast(&team->changed);
		return;
	}
	ConditionVariablePrepareToSleep(&team->changed);
	for (;;)
	{
		bool		passed;

		SpinLockAcquire(&team->mutex);
		passed = team->phase != phase;
		SpinLockRelease(&team->mutex);
		if (passed)
			break;
		gpusort_worker_await(&team->changed, gpusort_wait_event(&wait_event, "GpuSortTeam"));
	}
	ConditionVariableCancelSleep();
}

static void
leave_gate(GpuSortTeam *team)
{
	SpinLockAcquire(&team->mutex);
	team->inside--;
	(void) opens(team);
	SpinLockRelease(&team->mutex);
	ConditionVariableBroadcast(&team->changed);
}

gs_status
gpusort_team_participate(GpuSortTeam *team, gs_participant *participant, gs_shared_sort *shared)
{
	gs_status	status = GS_OK;
	uint32		phase;

	for (phase = enter_gate(team); status == GS_OK && !gs_shared_sort_done(shared, phase); phase++)
	{
		gpusort_worker_fault("a phase of a sort");
		status = gs_participate(participant, phase);
		if (status == GS_OK)
			pass_gate(team);
	}
	leave_gate(team);
	return status;
}

void
gpusort_team_listen(gs_sort_args *args)
{
	args->cancel = (const volatile int *) &QueryCancelPending;
	args->also_cancel = (const volatile int *) &ProcDiePending;
}
