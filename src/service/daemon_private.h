/*
 * daemon_private.h
 *		gpusortd as a process: its command line, its birth and its death.
 */
#ifndef GPUSORT_DAEMON_PRIVATE_H
#define GPUSORT_DAEMON_PRIVATE_H

#include <sys/types.h>

#include "protocol/gsd_pool.h"

#define DAEMON_SETTING_MAX 256

/* Copies of the settings that gpusortd is started with, which can be compared by memcmp(). */
typedef struct GpuSortDaemonSettings
{
	char		daemon[DAEMON_SETTING_MAX];
	char		devices[DAEMON_SETTING_MAX];
	char		memory[DAEMON_SETTING_MAX];
	char		options[DAEMON_SETTING_MAX];
} GpuSortDaemonSettings;

/* Why a gpusortd has died. */
typedef struct GpuSortDaemonDeath
{
	bool		permanent;		/* another gpusortd would die for the same reason */
	bool		may_change;		/* ... unless a device, driver or setting has changed by then */
	bool		no_device;		/* there is no device that it could use */
	char		message[320];	/* for the log */
	char		reason[200];	/* for gpusort_service() */
} GpuSortDaemonDeath;

/* Returns the settings as they are now. */
extern GpuSortDaemonSettings gpusort_daemon_settings(void);

/* Starts the program; returns its PID, or -1, with errno set, if no process can be started. */
extern pid_t gpusort_start_daemon(const gsd_pool *pool, const GpuSortDaemonSettings *settings);

/*
 * Returns whether the process with this PID is a gpusortd that is alive.  A zombie, which its
 * parent has not waited for, counts as dead; so does a gpusortd whose PID some other program has
 * got.
 */
extern bool gpusort_daemon_is_alive(pid_t pid);

/*
 * Returns what a status of waitpid() means; `said` is the message that the program left in the pool
 * before.
 */
extern GpuSortDaemonDeath gpusort_daemon_death(int status, const char *said);

#endif							/* GPUSORT_DAEMON_PRIVATE_H */
