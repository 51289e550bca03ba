/*
 * gsd_wake.h
 *		How processes that share the pool wake each other.
 *
 * No file descriptors are needed for that, of which every process of the server would have to have
 * its copies:
 *
 *	gpusortd		sleeps on a word of the pool (a futex), which is raised when a job wants
 *					its attention
 *	a backend		writes its pid into its job while it sleeps, and is sent SIGUSR1, on which a
 *					process of the server sets its latch; once it has closed the job, it
 *					sleeps on the daemon's state of the job, as on a futex
 *	the supervisor	is sent SIGUSR1, too
 *
 * A process changes something before it wakes another, and a process that is about to sleep looks
 * once more after it has said so.  Both are sequentially consistent, so that no change is slept
 * through.
 */
#ifndef GSD_WAKE_H
#define GSD_WAKE_H

#include "protocol/gsd_pool.h"

/* Tells gpusortd that a job wants its attention.  May be called in signal handlers. */
extern void gsd_ring(gsd_header *header);

/* Sleeps until gpusortd has been rung for more often than `seen` times, or a signal comes. */
extern void gsd_sleep_until_rung(gsd_header *header, uint32_t seen);

/* Tells the backend that may be sleeping for a job that there is news. */
extern void gsd_wake_waiter(gsd_job *job);

/* Tells the supervisor that there is something to do. */
extern void gsd_wake_supervisor(gsd_header *header);

/*
 * gsd_let_go() sets a job IDLE: gpusortd, or the supervisor that plays its part, is done with it
 * for good.  gsd_sleep_until_let_go() has the backend wait for that after it has closed the job,
 * and returns false if it takes longer than the timeout.
 */
extern void gsd_let_go(gsd_job *job);
extern bool gsd_sleep_until_let_go(gsd_job *job, int timeout_ms);

#endif							/* GSD_WAKE_H */
