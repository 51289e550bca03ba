/*
 * gsd_wake.h
 *		How processes that share the pool wake each other.
 *
 * No descriptors are needed for it, of which every process of the server would have
 * to have its copies:
 *
 *	gpusortd		sleeps on a word of the pool, which is raised when a job wants its
 *					attention (a futex)
 *	a backend		says so in its job while it sleeps, and is sent SIGUSR1, on which a
 *					process of the server sets its latch; once it has closed the job,
 *					it sleeps on the daemon's state, like gpusortd
 *	the supervisor	is sent SIGUSR1, too
 *
 * Whoever wakes has changed something before; whoever sleeps looks once more after
 * it has said that it will.  Both are sequentially consistent, so that no change is slept
 * through.
 */
#ifndef GSD_WAKE_H
#define GSD_WAKE_H

#include "protocol/gsd_pool.h"

/* A job wants gpusortd's attention.  May be called in signal handlers. */
extern void gsd_ring(gsd_header *header);

/* Sleep until gpusortd has been rung for more often than `seen` times, or a signal. */
extern void gsd_sleep_until_rung(gsd_header *header, uint32_t seen);

/* There is news for the backend that may be sleeping for a job. */
extern void gsd_wake_waiter(gsd_job *job);

/* There is something to do for the supervisor. */
extern void gsd_wake_supervisor(gsd_header *header);

/*
 * gpusortd, or whoever plays its part, is done with a job, for good.  The backend may
 * wait for that, after it has closed the job; false if it takes longer than the timeout.
 */
extern void gsd_let_go(gsd_job *job);
extern bool gsd_sleep_until_let_go(gsd_job *job, int timeout_ms);

#endif							/* GSD_WAKE_H */
