/*
 * daemon_process.h
 *		gpusortd as a process: its command line, its birth and its death.
 */
#ifndef GPUSORT_DAEMON_PROCESS_H
#define GPUSORT_DAEMON_PROCESS_H

#include <sys/types.h>

#include "protocol/gsd_pool.h"

#define DAEMON_SETTING_MAX 256

/* Copies of the settings that gpusortd is started with; comparable by memcmp. */
typedef struct GpuSortDaemonSettings
{
	char		daemon[DAEMON_SETTING_MAX];
	char		devices[DAEMON_SETTING_MAX];
	char		memory[DAEMON_SETTING_MAX];
	char		options[DAEMON_SETTING_MAX];
} GpuSortDaemonSettings;

/* How a process that has died is to be spoken of. */
typedef struct GpuSortDaemonDeath
{
	bool		permanent;		/* the next one would die in the same way */
	bool		no_device;
	char		message[320];	/* for the log */
	char		reason[200];	/* for gpusort_service() */
} GpuSortDaemonDeath;

/* The settings as they are now. */
extern GpuSortDaemonSettings gpusort_daemon_settings(void);

/* Start the program; -1, with errno set, if there can be no process. */
extern pid_t gpusort_start_daemon(const gsd_pool *pool, const GpuSortDaemonSettings *settings);

/*
 * Is the process one of gpusortd that has not died?  One that has, and that its parent
 * takes no notice of, counts as dead; and so does somebody else's that has got the pid.
 */
extern bool gpusort_daemon_is_alive(pid_t pid);

/* What a status of waitpid() means; `said` is what the program said before. */
extern GpuSortDaemonDeath gpusort_daemon_death(int status, const char *said);

#endif							/* GPUSORT_DAEMON_PROCESS_H */
