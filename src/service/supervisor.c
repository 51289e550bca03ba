/*
 * supervisor.c
 *		The background worker that keeps gpusortd running.
 *
 * The worker starts gpusortd when the server starts, and again when gpusortd has died:
 * at once the first time, then after 1, 2, 4 ... 60 s, until one has lived for a
 * minute.  If gpusortd says that there is no device to sort on, or can't be started at
 * all, it is not started again before the configuration is reloaded.  When settings
 * have changed, gpusortd is stopped and another one started.
 *
 * A gpusortd that does not let go of a job that its session has closed hangs.  It is
 * killed after gpusort.daemon_timeout.  If a driver holds it up, it may never die; no
 * session waits for it from then on.
 *
 * The worker also does the dead gpusortd's part of the handshake in the pool
 * (gsd_daemon_died), and frees what sessions have left to jobs.  It has no part in
 * sorting: sessions and gpusortd talk to each other through the pool.
 *
 * gpusortd dies with the worker (it asks the kernel for that), so an error here ends
 * both.  The postmaster then starts the worker again.  That starts no other gpusortd
 * before the old one is really gone, since the old one may still write to the pool.  If
 * a driver does not let go of it, that may take for ever, and sorts run on the CPU.
 */
#include "postgres.h"

#include <signal.h>
#include <sys/wait.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "memory/pool.h"
#include "pg_compat.h"
#include "protocol/gsd_wake.h"
#include "service/daemon_private.h"
#include "service/service.h"
#include "settings.h"
#include "team/workers.h"

/* The wait event of the worker's main loop. */
static uint32 wait_event = 0;

#define WORKER_RESTART_S	5
#define MAX_DELAY_MS		60000
#define FIRST_DELAY_MS		1000
#define LONG_LIFE_MS		60000

/* How long after SIGTERM gpusortd is killed, if it has not ended. */
#define PATIENCE_MS			2000

/* How long a killed gpusortd is waited for at shutdown. */
#define KILL_WAIT_MS		1000

/*
 * How often the worker looks whether an earlier worker's gpusortd has ended; and how often from
 * OUTLIVE_MS on.
 */
#define POLL_MS				50
#define SLOW_POLL_MS		1000
#define OUTLIVE_MS			10000

/* What the worker is doing about gpusortd. */
typedef enum Course
{
	COURSE_OUTLIVE,				/* waits for the end of an earlier worker's gpusortd */
	COURSE_NONE,				/* nothing: none is wanted, or none can run */
	COURSE_START,				/* starts one at next_start */
	COURSE_WATCH,				/* watches one that is running */
	COURSE_STOP					/* has told one to end */
} Course;

typedef struct Supervisor
{
	Course		course;
	TimestampTz begun;			/* when this worker began */
	bool		complained;		/* has logged that an earlier worker's gpusortd does not end */
	char		told[320];		/* what was logged last, if gpusortd has ended for good; else "" */

	/* the running gpusortd */
	pid_t		pid;			/* 0: none */
	bool		killed;			/* SIGKILL has been sent */
	TimestampTz started;
	GpuSortDaemonSettings settings; /* the settings that it was started with */
	TimestampTz closed_since[GSD_MAX_JOBS]; /* since when a job is closed that it has not let go of;
											 * 0: there is no such job */
	uint32		closed_claim[GSD_MAX_JOBS]; /* which use of the job's number that refers to */
	TimestampTz oldest_closed;	/* the earliest of closed_since, or 0 */

	/* what comes next */
	TimestampTz next_start;		/* COURSE_START: when to start */
	TimestampTz kill_at;		/* COURSE_STOP: when to kill */
	int			delay_ms;		/* how long to wait after the next death */
} Supervisor;

/* What the server says of too many workers does not tell whose worker is the one too many. */
static void
tell_who_registers(void *arg)
{
	errcontext("registering gpusort's supervisor, which starts gpusortd for GPUs");
}

void
gpusort_supervisor_install(void)
{
	ErrorContextCallback context = {.previous = error_context_stack,
		.callback = tell_who_registers};
	BackgroundWorker worker = {
		.bgw_name = "gpusort supervisor",
		.bgw_type = "gpusort supervisor",
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_PostmasterStart,
		.bgw_restart_time = WORKER_RESTART_S,
		.bgw_function_name = "gpusort_supervisor_main",
	};
	const char *file = gpusort_library_file();

	/* if the path is too long for the server, it may find the library by its name */
	if (strlen(file) >= sizeof(worker.bgw_library_name))
		file = "gpusort";
	strcpy(worker.bgw_library_name, file);
	error_context_stack = &context;
	RegisterBackgroundWorker(&worker);
	error_context_stack = context.previous;
}

/* A signal handler: gpusortd has died, or a session or gpusortd asks the worker to look. */
static void
wake_up(SIGNAL_ARGS)
{
	int			saved_errno = errno;

	SetLatch(MyLatch);
	errno = saved_errno;
}

static gsd_service *
service(void)
{
	return &gpusort_pool->header->service;
}

/* Sets the service's state, and a message that says why there is no gpusortd. */
static void
set_state(gsd_service_state state, const char *message)
{
	strlcpy(service()->message, message, sizeof(service()->message));
	service()->state = state;
}

/*
 * Begins by waiting for the end of a gpusortd that an earlier worker may have left.  The kernel has
 * killed it when that worker died.
 */
static void
begin(Supervisor *supervisor)
{
	memset(supervisor, 0, sizeof(*supervisor));
	supervisor->course = COURSE_OUTLIVE;
	supervisor->begun = GetCurrentTimestamp();
	if (service()->daemon_pid != 0)
		set_state(GSD_SERVICE_DOWN, "an earlier gpusortd has not ended yet");
}

/* Plans to start gpusortd at once, or not at all, as the settings say. */
static void
plan_start(Supervisor *supervisor)
{
	supervisor->delay_ms = 0;
	supervisor->next_start = GetCurrentTimestamp();
	if (strcmp(gpusort_daemon, "off") == 0)
	{
		supervisor->course = COURSE_NONE;
		supervisor->told[0] = '\0';
		set_state(GSD_SERVICE_OFF, "gpusort.daemon is off");
	}
	else
		supervisor->course = COURSE_START;
}

/* Goes on if the gpusortd that an earlier worker has left is gone. */
static void
look_for_predecessor(Supervisor *supervisor)
{
	pid_t		pid = (pid_t) service()->daemon_pid;

	if (pid == 0 || !gpusort_daemon_is_alive(pid))
	{
		service()->daemon_pid = 0;
		plan_start(supervisor);
	}
	else if (!supervisor->complained &&
			 TimestampDifferenceExceeds(supervisor->begun, GetCurrentTimestamp(), OUTLIVE_MS))
	{
		ereport(LOG,
				(errmsg("an earlier gpusortd, with PID %d, does not end", (int) pid),
				 errdetail("Sorts run on the CPU until it does.")));
		supervisor->complained = true;
	}
}

/* Starts gpusortd; if no process can be started, plans to try again after MAX_DELAY_MS. */
static void
start(Supervisor *supervisor)
{
	pid_t		pid;

	supervisor->settings = gpusort_daemon_settings();
	set_state(GSD_SERVICE_STARTING, "gpusortd is starting");
	pid = gpusort_start_daemon(gpusort_pool, &supervisor->settings);
	if (pid < 0)
	{
		ereport(LOG, (errmsg("could not start gpusortd: %m")));
		set_state(GSD_SERVICE_DOWN, "no process could be started");
		supervisor->next_start = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), MAX_DELAY_MS);
		return;
	}
	supervisor->pid = pid;
	supervisor->killed = false;
	supervisor->course = COURSE_WATCH;
	supervisor->started = GetCurrentTimestamp();
	memset(supervisor->closed_since, 0, sizeof(supervisor->closed_since));
	service()->started_us = supervisor->started +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
	service()->starts++;
	service()->daemon_pid = pid;
}

/* Tells a running gpusortd to end. */
static void
stop(Supervisor *supervisor)
{
	if (supervisor->course != COURSE_WATCH)
		return;
	kill(supervisor->pid, SIGTERM);
	supervisor->course = COURSE_STOP;
	supervisor->kill_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), PATIENCE_MS);
}

/* Kills a gpusortd that hangs, or has not ended when it was told to. */
static void
kill_daemon(Supervisor *supervisor)
{
	if (supervisor->killed)
		return;
	kill(supervisor->pid, SIGKILL);
	supervisor->killed = true;
	if (supervisor->course == COURSE_STOP)
	{
		/* Several devices take longer to give back a large pool, so this need not be a fault. */
		ereport(LOG, (errmsg("gpusortd has not ended within %d s, it is killed", PATIENCE_MS / 1000)));
		set_state(GSD_SERVICE_DOWN, "it did not end, and has been killed");
	}
	else
	{
		ereport(LOG, (errmsg("gpusortd hangs, it is killed")));
		set_state(GSD_SERVICE_DOWN, "it hangs, and has been killed");
	}
}

/* Plans what to do when gpusortd has died by itself: start another one now, later or not at all. */
static void
plan_restart(Supervisor *supervisor, int status)
{
	TimestampTz now = GetCurrentTimestamp();
	GpuSortDaemonDeath death = gpusort_daemon_death(status, service()->message);

	if (TimestampDifferenceExceeds(supervisor->started, now, LONG_LIFE_MS))
		supervisor->delay_ms = 0;
	/* a reload that has changed nothing about it is not worth a line in the log */
	ereport(strcmp(death.message, supervisor->told) == 0 ? DEBUG1 : LOG,
			(errmsg_internal("%s", death.message),
			 errdetail("Sorts run on the CPU."),
			 death.may_change
			 ? errhint("It is tried again when the configuration is reloaded.") : 0));
	set_state(death.no_device ? GSD_SERVICE_NO_DEVICE : GSD_SERVICE_DOWN, death.reason);
	supervisor->told[0] = '\0';
	if (death.permanent)
	{
		strlcpy(supervisor->told, death.message, sizeof(supervisor->told));
		supervisor->course = COURSE_NONE;
		return;
	}
	supervisor->course = COURSE_START;
	supervisor->next_start = TimestampTzPlusMilliseconds(now, supervisor->delay_ms);
	supervisor->delay_ms = Min(Max(2 * supervisor->delay_ms, FIRST_DELAY_MS), MAX_DELAY_MS);
}

/* Looks whether gpusortd has died, and plans what comes next if it has. */
static void
reap(Supervisor *supervisor)
{
	int			status;

	if (supervisor->pid == 0 || waitpid(supervisor->pid, &status, WNOHANG) != supervisor->pid)
		return;
	supervisor->pid = 0;
	if (supervisor->course == COURSE_STOP)
	{
		supervisor->told[0] = '\0';
		plan_start(supervisor);
	}
	else
		plan_restart(supervisor, status);
	service()->daemon_pid = 0;
	service()->ndevices = 0;
	gsd_daemon_died(gpusort_pool->header);
}

/* Reloads the configuration, and stops gpusortd if that has changed its settings. */
static void
reload(Supervisor *supervisor)
{
	GpuSortDaemonSettings settings;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	if (gpusort_inject_fault == GPUSORT_FAULT_SUPERVISOR)
		elog(ERROR, "injected failure of the supervisor");
	settings = gpusort_daemon_settings();
	switch (supervisor->course)
	{
		case COURSE_OUTLIVE:
			break;
		case COURSE_NONE:
		case COURSE_START:
			if (memcmp(&settings, &supervisor->settings, sizeof(settings)) != 0)
				supervisor->told[0] = '\0';
			plan_start(supervisor);
			break;
		case COURSE_WATCH:
			if (memcmp(&settings, &supervisor->settings, sizeof(settings)) != 0)
				stop(supervisor);
			break;
		case COURSE_STOP:
			break;
	}
}

/* Notes since when jobs are closed that gpusortd has not let go of. */
static void
watch_closed_jobs(Supervisor *supervisor)
{
	TimestampTz now = GetCurrentTimestamp();

	supervisor->oldest_closed = 0;
	for (int i = 0; i < GSD_MAX_JOBS; i++)
	{
		const gsd_job *job = &gpusort_pool->header->jobs[i];
		TimestampTz *since = &supervisor->closed_since[i];

		if (job->backend_state != GSD_BACKEND_CLOSED || job->daemon_state == GSD_DAEMON_IDLE)
			*since = 0;
		else if (*since == 0 || supervisor->closed_claim[i] != job->claims)
		{
			*since = now;
			supervisor->closed_claim[i] = job->claims;
		}
		if (*since != 0 && (supervisor->oldest_closed == 0 || *since < supervisor->oldest_closed))
			supervisor->oldest_closed = *since;
	}
}

/* Returns when gpusortd is to be killed if it has not let go of closed jobs by then; 0: never. */
static TimestampTz
hang_deadline(const Supervisor *supervisor)
{
	if (supervisor->oldest_closed == 0 || gpusort_daemon_timeout == 0)
		return 0;
	return TimestampTzPlusMilliseconds(supervisor->oldest_closed, gpusort_daemon_timeout);
}

/* Returns after how many milliseconds the worker must look by itself; -1: not at all. */
static long
patience_ms(const Supervisor *supervisor)
{
	TimestampTz now = GetCurrentTimestamp();

	/* look again and again, in case SIGCHLD gets lost */
	if (supervisor->pid != 0 && supervisor->killed)
		return SLOW_POLL_MS;
	switch (supervisor->course)
	{
		case COURSE_OUTLIVE:
			return supervisor->complained ? SLOW_POLL_MS : POLL_MS;
		case COURSE_START:
			return TimestampDifferenceMilliseconds(now, supervisor->next_start);
		case COURSE_WATCH:
			if (hang_deadline(supervisor) == 0)
				return -1;
			return Max(TimestampDifferenceMilliseconds(now, hang_deadline(supervisor)), POLL_MS);
		case COURSE_STOP:
			return Max(TimestampDifferenceMilliseconds(now, supervisor->kill_at), POLL_MS);
		default:
			return -1;
	}
}

/* Does all that it is time for. */
static void
proceed(Supervisor *supervisor)
{
	TimestampTz now = GetCurrentTimestamp();

	reap(supervisor);
	if (supervisor->course == COURSE_OUTLIVE)
		look_for_predecessor(supervisor);
	if (supervisor->course == COURSE_START && supervisor->next_start <= now)
		start(supervisor);
	if (supervisor->course == COURSE_STOP && supervisor->kill_at <= now)
		kill_daemon(supervisor);
	if (supervisor->course == COURSE_WATCH)
	{
		watch_closed_jobs(supervisor);
		if (hang_deadline(supervisor) != 0 && hang_deadline(supervisor) <= now)
			kill_daemon(supervisor);
	}
	if (supervisor->course != COURSE_OUTLIVE && supervisor->pid == 0)
		gsd_daemon_died(gpusort_pool->header);
	gsd_reap_jobs(gpusort_pool->header);
}

static void
wait_for_events(long timeout_ms)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (timeout_ms >= 0 ? WL_TIMEOUT : 0);

	(void) WaitLatch(MyLatch, events, timeout_ms, gpusort_wait_event(&wait_event, "GpuSortSupervisorMain"));
	ResetLatch(MyLatch);
}

/* Ends gpusortd when the server is shut down, or this worker has been terminated. */
static void
stop_for_good(Supervisor *supervisor)
{
	set_state(GSD_SERVICE_DOWN, "the supervisor has ended");
	if (supervisor->course == COURSE_OUTLIVE)
		return;
	stop(supervisor);
	while (supervisor->pid != 0)
	{
		int			status;

		if (waitpid(supervisor->pid, &status, WNOHANG) == supervisor->pid)
			break;
		if (TimestampDifferenceExceeds(supervisor->kill_at, GetCurrentTimestamp(), 0))
			kill(supervisor->pid, SIGKILL);

		/* if a driver holds it up, it dies when it can, after this worker */
		if (TimestampDifferenceExceeds(supervisor->kill_at, GetCurrentTimestamp(), KILL_WAIT_MS))
			return;
		wait_for_events(POLL_MS);
	}
	service()->daemon_pid = 0;
	gsd_daemon_died(gpusort_pool->header);
}

static void
forget_supervisor(int code, Datum arg)
{
	service()->supervisor_pid = 0;
}

void
gpusort_supervisor_main(Datum arg)
{
	Supervisor	supervisor;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGCHLD, wake_up);
	pqsignal(SIGUSR1, wake_up);
	BackgroundWorkerUnblockSignals();

	/* without a pool there is nothing to do; after exit code 0 the worker is not started again */
	if (gpusort_pool == NULL)
		proc_exit(0);

	on_shmem_exit(forget_supervisor, (Datum) 0);
	service()->supervisor_pid = (uint32) MyProcPid;
	begin(&supervisor);
	while (!ShutdownRequestPending)
	{
		if (ConfigReloadPending)
			reload(&supervisor);
		proceed(&supervisor);
		wait_for_events(patience_ms(&supervisor));
	}
	stop_for_good(&supervisor);

	/* after exit code 1 the worker is started again, unless the server is shut down */
	proc_exit(1);
}
