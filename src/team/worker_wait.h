/*
 * worker_wait.h
 *		Waiting for other participants of a job.
 *
 * A parallel worker that fails sends its error to the leader, which raises it as soon as it checks
 * for interrupts.  A worker that exits without reporting an error also signals the leader to look
 * at the worker's message queue, but detaches from the queue only afterwards.  A leader that looks
 * before that finds nothing in the queue, and is not signalled again.  So a leader that waits looks
 * into the queues of its workers every now and then, and fails as the server does: "lost connection
 * to parallel worker".  A worker that waits has no workers of its own to look after: its leader
 * looks, and terminates it.
 *
 * Wherever a participant waits for another, it does so by a function of this file, which
 * test/layout.pl checks.
 */
#ifndef GPUSORT_WORKER_WAIT_H
#define GPUSORT_WORKER_WAIT_H

#include <signal.h>

#include "access/parallel.h"
#include "storage/barrier.h"
#include "storage/condition_variable.h"

/*
 * Has this process look into its workers' queues every now and then, until the context is reset.
 * To be called in the leader of a query whose workers wait for each other, because the leader need
 * not take part in the waits: it may be in a Gather, or parallel_leader_participation may be off.
 */
extern void gpusort_worker_watch(MemoryContext context);

/*
 * Set while this process works on its own on something that an interrupt would have it begin again.
 * It waits for nobody then, so that the watch need not interrupt it.
 */
extern volatile sig_atomic_t gpusort_worker_watch_rests;

/*
 * Raises an error that a worker of this process has reported, or the error that a worker was lost.
 */
extern void gpusort_worker_look(void);

/*
 * Waits until the condition variable is signalled, but returns earlier, too: the caller has to
 * check whether what it waits for has happened.  The caller may call
 * ConditionVariablePrepareToSleep() before, and has to call ConditionVariableCancelSleep() when it
 * is done.
 */
extern void gpusort_worker_await(ConditionVariable *changed, uint32 event);

/*
 * The same for the latch of this process, which the processes at the other ends of its queues set.
 */
extern void gpusort_worker_await_latch(uint32 event);

/*
 * Arrives at a barrier and waits for the other participants; returns what BarrierArriveAndWait()
 * returns.
 */
extern bool gpusort_worker_arrive(Barrier *barrier, uint32 event);

/* Waits until all workers of the context have ended. */
extern void gpusort_worker_await_end(ParallelContext *context);

#endif							/* GPUSORT_WORKER_WAIT_H */
