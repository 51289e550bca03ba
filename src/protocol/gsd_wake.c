/*
 * gsd_wake.c
 *		How processes that share the pool wake each other.
 *
 * The pid of a waiter is read from memory that any process of the server can write, and a signal to
 * a wrong pid may end a process, or, with some numbers, all of them.  So a number that can't be a
 * pid gets no signal.  A backend sets its pid only while it sleeps, so a pid that has gone to
 * another process is as unlikely as where the server signals its own processes.
 */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "protocol/gsd_wake.h"

#define NS_A_MS		1000000L

/* The pool is mapped at different addresses, so futexes in it are not private. */
static void
futex_wake(_Atomic uint32_t *word)
{
	int			saved_errno = errno;

	(void) syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	errno = saved_errno;
}

static void
futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	(void) syscall(SYS_futex, word, FUTEX_WAIT, value, timeout, NULL, 0);
}

static void
wake_process(uint32_t pid)
{
	int			saved_errno = errno;

	if (pid > 1 && pid < 1u << GSD_OWNER_PID_BITS)
		(void) kill((pid_t) pid, SIGUSR1);
	errno = saved_errno;
}

void
gsd_ring(gsd_header *header)
{
	header->rings++;
	futex_wake(&header->rings);
}

void
gsd_sleep_until_rung(gsd_header *header, uint32_t seen)
{
	futex_wait(&header->rings, seen, NULL);
}

void
gsd_wake_waiter(gsd_job *job)
{
	wake_process(job->waiter);
}

void
gsd_wake_supervisor(gsd_header *header)
{
	wake_process(header->service.supervisor_pid);
}

void
gsd_let_go(gsd_job *job)
{
	job->daemon_state = GSD_DAEMON_IDLE;
	futex_wake(&job->daemon_state);
}

/* Returns the milliseconds since some fixed instant. */
static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / NS_A_MS;
}

bool
gsd_sleep_until_let_go(gsd_job *job, int timeout_ms)
{
	int64_t		end_ms = now_ms() + timeout_ms;
	uint32_t	state;

	while ((state = job->daemon_state) != GSD_DAEMON_IDLE)
	{
		int64_t		left_ms = end_ms - now_ms();
		struct timespec timeout = {left_ms / 1000, left_ms % 1000 * NS_A_MS};

		if (left_ms <= 0)
			return false;
		futex_wait(&job->daemon_state, state, &timeout);
	}
	return true;
}
