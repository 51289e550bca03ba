/*
 * worker_wait.h
 *		Waiting for other participants of a job.
 *
 * A parallel worker that fails sends its error to the leader, which raises it as soon as it looks
 * for interrupts.  A worker that ends without a word has the leader look as well, but lets go of
 * its queue of messages only afterwards.  A leader that is faster finds nothing there, and nobody
 * tells it again.  So a leader that waits looks into the queues of its workers every now and then,
 * and fails as the server does: "lost connection to parallel worker".  A worker that waits has
 * nobody to look after: its leader ends it.
 *
 * All waits of one participant for another are here (test/layout.pl).
 */
#ifndef GPUSORT_WORKER_WAIT_H
#define GPUSORT_WORKER_WAIT_H

#include "access/parallel.h"
#include "storage/barrier.h"
#include "storage/condition_variable.h"

/* Raise what the workers of this process have reported, or that one of them is lost. */
extern void gpusort_worker_look(void);

/*
 * Wait until the condition variable is signalled, or may have been: the caller has to look whether
 * what it waits for has come.  It may call ConditionVariablePrepareToSleep() before, and calls
 * ConditionVariableCancelSleep() at the end.
 */
extern void gpusort_worker_await(ConditionVariable *changed, uint32 event);

/* The same for the latch of this process, which is set by those at the other ends of queues. */
extern void gpusort_worker_await_latch(uint32 event);

/* Arrive at a barrier and wait for the others, as BarrierArriveAndWait(). */
extern bool gpusort_worker_arrive(Barrier *barrier, uint32 event);

/* Wait until all workers have ended. */
extern void gpusort_worker_await_end(ParallelContext *context);

#endif							/* GPUSORT_WORKER_WAIT_H */
