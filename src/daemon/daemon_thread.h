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
	uint64_t	told;			/* times */
	uint64_t	seen;			/* of them, by the thread when it last went to sleep */
	bool		ending;
	bool		asleep;
} gsd_thread;

/* The body looks for things to do, and sleeps while there are none; false: no thread. */
extern bool gsd_thread_start(gsd_thread *thread, void *(*body) (void *), void *arg);

/* There may be something to do.  Whatever was written before is seen by the thread. */
extern void gsd_thread_tell(gsd_thread *thread);

/*
 * By the thread itself, before it looks; and when it has found nothing, to sleep if it
 * was not told of anything since.  False: it is to end.
 */
extern uint64_t gsd_thread_told(gsd_thread *thread);
extern bool gsd_thread_sleep(gsd_thread *thread, uint64_t told);

/* Wait until the thread has seen all that it was told of, and sleeps. */
extern void gsd_thread_settle(gsd_thread *thread);

/* Have the thread end when it has nothing to do, and wait for that. */
extern void gsd_thread_end(gsd_thread *thread);

#endif							/* DAEMON_THREAD_H */
