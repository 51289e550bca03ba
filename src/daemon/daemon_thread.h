/*
 * daemon_thread.h
 *		A thread that sleeps until it is told that there is something to do.
 */
#ifndef DAEMON_THREAD_H
#define DAEMON_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct gsd_thread
{
	pthread_t	thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	uint64_t	told;			/* how often the thread was told */
	/* what `told` was when the thread, before it went to sleep, looked last */
	uint64_t	seen;
	bool		ending;
	bool		asleep;
} gsd_thread;

/*
 * Starts a thread, whose body looks for things to do and sleeps while there are none.  Returns
 * false if there is no thread to be had.
 */
extern bool gsd_thread_start(gsd_thread *thread, void *(*body) (void *), void *arg);

/*
 * Tells the thread that there may be something to do.  The thread sees what was written before
 * that.
 */
extern void gsd_thread_tell(gsd_thread *thread);

/*
 * The body calls gsd_thread_told() before it looks for things to do, and when it has found none
 * gsd_thread_sleep(), with the number that it was given.  That sleeps unless the thread was told of
 * something since, and returns false if the thread is to end.
 */
extern uint64_t gsd_thread_told(gsd_thread *thread);
extern bool gsd_thread_sleep(gsd_thread *thread, uint64_t told);

/* Waits until the thread has looked at all that it was told of, and sleeps. */
extern void gsd_thread_settle(gsd_thread *thread);

/* Has the thread end when it has nothing to do, and waits for that. */
extern void gsd_thread_end(gsd_thread *thread);

#endif							/* DAEMON_THREAD_H */
