/*
 * daemon_thread.c
 *		A thread that sleeps until it is told that there is something to do.
 */
#include "daemon/daemon.h"

bool
gsd_thread_start(gsd_thread *thread, void *(*body) (void *), void *arg)
{
	thread->told = thread->seen = 0;
	thread->ending = thread->asleep = false;
	pthread_mutex_init(&thread->mutex, NULL);
	pthread_cond_init(&thread->changed, NULL);
	if (pthread_create(&thread->thread, NULL, body, arg) == 0)
		return true;
	pthread_cond_destroy(&thread->changed);
	pthread_mutex_destroy(&thread->mutex);
	return false;
}

void
gsd_thread_tell(gsd_thread *thread)
{
	pthread_mutex_lock(&thread->mutex);
	thread->told++;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
}

uint64_t
gsd_thread_told(gsd_thread *thread)
{
	uint64_t	told;

	pthread_mutex_lock(&thread->mutex);
	told = thread->told;
	pthread_mutex_unlock(&thread->mutex);
	return told;
}

bool
gsd_thread_sleep(gsd_thread *thread, uint64_t told)
{
	bool		goes_on;

	pthread_mutex_lock(&thread->mutex);
	thread->asleep = true;
	thread->seen = told;
	pthread_cond_broadcast(&thread->changed);
	while (thread->told == told && !thread->ending)
		pthread_cond_wait(&thread->changed, &thread->mutex);
	thread->asleep = false;
	goes_on = !thread->ending;
	pthread_mutex_unlock(&thread->mutex);
	return goes_on;
}

void
gsd_thread_settle(gsd_thread *thread)
{
	pthread_mutex_lock(&thread->mutex);
	while (!thread->asleep || thread->seen != thread->told)
		pthread_cond_wait(&thread->changed, &thread->mutex);
	pthread_mutex_unlock(&thread->mutex);
}

void
gsd_thread_end(gsd_thread *thread)
{
	pthread_mutex_lock(&thread->mutex);
	thread->ending = true;
	pthread_cond_broadcast(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
	(void) pthread_join(thread->thread, NULL);
	pthread_cond_destroy(&thread->changed);
	pthread_mutex_destroy(&thread->mutex);
}
