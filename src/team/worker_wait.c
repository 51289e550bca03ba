/*
 * worker_wait.c
 *		Waiting for other participants of a job; see worker_wait.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "team/worker_wait.h"

/* How often a process that waits looks into the queues of its workers. */
#define LOOK_MS		1000

void
gpusort_worker_look(void)
{
	ParallelMessagePending = true;
	InterruptPending = true;
	CHECK_FOR_INTERRUPTS();
}

void
gpusort_worker_await(ConditionVariable *changed, uint32 event)
{
	if (ConditionVariableTimedSleep(changed, LOOK_MS, event))
		gpusort_worker_look();
}

void
gpusort_worker_await_latch(uint32 event)
{
	int			events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
								   LOOK_MS, event);

	ResetLatch(MyLatch);
	if (events & WL_TIMEOUT)
		gpusort_worker_look();
	CHECK_FOR_INTERRUPTS();
}

/* ---------- the watch ---------- */

static TimeoutId timer = MAX_TIMEOUTS;
static int	watches = 0;		/* reasons why the timer is on */

volatile sig_atomic_t gpusort_worker_watch_rests = false;

/* The handler of the timer. */
static void
ask_for_look(void)
{
	if (gpusort_worker_watch_rests)
		return;
	ParallelMessagePending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static void
begin_watch(void)
{
	if (timer == MAX_TIMEOUTS)
		timer = RegisterTimeout(USER_TIMEOUT, ask_for_look);
	watches++;
	/* after an error the server may have disabled the timer, with watches still to be ended */
	if (!get_timeout_active(timer))
		enable_timeout_every(timer, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LOOK_MS),
							 LOOK_MS);
}

static void
end_watch(void *arg)
{
	if (--watches == 0)
		disable_timeout(timer, false);
}

void
gpusort_worker_watch(MemoryContext context)
{
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));

	*callback = (MemoryContextCallback) {.func = end_watch};
	begin_watch();
	MemoryContextRegisterResetCallback(context, callback);
}

bool
gpusort_worker_arrive(Barrier *barrier, uint32 event)
{
	volatile bool elected = false;

	if (IsParallelWorker())
		return BarrierArriveAndWait(barrier, event);
	begin_watch();
	PG_TRY();
	{
		elected = BarrierArriveAndWait(barrier, event);
	}
	PG_FINALLY();
	{
		end_watch(NULL);
	}
	PG_END_TRY();
	return elected;
}

/* ---------- the end ---------- */

/*
 * Returns whether any worker may still be running.  The server resets a worker's error_mqh when the
 * worker has ended regularly.
 */
static bool
any_is_there(const ParallelContext *context)
{
	for (int i = 0; i < context->nworkers_launched; i++)
	{
		if (context->worker[i].error_mqh != NULL)
			return true;
	}
	return false;
}

/*
 * The server's WaitForParallelWorkersToFinish() would not look into the queues again, so it is
 * called only when there is no worker left to wait for.  It then notes how far the workers have
 * written WAL.
 */
void
gpusort_worker_await_end(ParallelContext *context)
{
	while (any_is_there(context))
		gpusort_worker_await_latch(WAIT_EVENT_PARALLEL_FINISH);
	WaitForParallelWorkersToFinish(context);
}
