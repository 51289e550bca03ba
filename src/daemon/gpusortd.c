/*
 * gpusortd.c
 *		The program that owns the GPUs.
 *
 * A database session must not open a GPU: that takes up to seconds and half a gigabyte of device
 * memory each, and a driver's fault in a process that maps the server's shared memory ends all
 * sessions.  So the server's supervisor (src/service/supervisor.c) starts this program beside the
 * server.  The program shares with the server the pool, in which jobs and their rows lie, and
 * nothing else: no PostgreSQL code, no connection, no files but the log (see
 * src/service/daemon_process.c).  Whatever happens to the program, the sessions sort without it.
 *
 * It is killed when its supervisor dies, and ends on SIGTERM at once; the supervisor then answers
 * for what it has not finished.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/daemon_jobs.h"
#include "protocol/gsd_pool.h"
#include "protocol/gsd_wake.h"

static void
end_at_once(int signal)
{
	_exit(GSD_EXIT_ASKED);
}

/* Makes sure that no program that is executed from here on has more rights than this process. */
static void
give_up_gaining_privileges(void)
{
	(void) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Has this process end with its supervisor; returns false if the supervisor has died already. */
static bool
follow_supervisor(const gsd_options *options)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
		(uint64_t) getppid() == options->supervisor_pid;
}

static gsd_exit
probe(const gsd_options *options)
{
	char		why[sizeof(((gsd_service *) NULL)->message)];
	gs_group	group;
	bool		cuda;
	gsd_exit	status = gsd_open_devices(options, &group, &cuda, why, sizeof(why));

	if (status != 0)
	{
		printf("no device: %s\n", why);
		return status;
	}
	gsd_print_devices(&group, cuda);
	gsd_close_devices(&group);
	return GSD_EXIT_ASKED;
}

/* Opens the devices and says so in the pool.  Returns 0, or the exit status to end with. */
static gsd_exit
start_service(const gsd_options *options, const gsd_pool *pool, gs_group *group)
{
	gsd_service *service = &pool->header->service;
	bool		cuda;
	gsd_exit	status = gsd_open_devices(options, group, &cuda, service->message,
										  sizeof(service->message));
	gs_status	registered;

	if (status != 0)
		return status;
	registered = cuda ? gsd_register_pool(pool, group->devices[0]) : GS_OK;
	if (registered != GS_OK)
	{
		snprintf(service->message, sizeof(service->message), "%s", group->devices[0]->error);
		return registered == GS_NO_SPACE ? GSD_EXIT_NO_MEMORY : GSD_EXIT_NO_DEVICE;
	}
	gsd_publish_devices(group, cuda, service);
	service->message[0] = '\0';
	service->device_bytes_used = 0;
	service->state = GSD_SERVICE_UP;
	gsd_log("sorting on %u %s device%s (%s)", group->ndevices, cuda ? "CUDA" : "simulated",
			group->ndevices == 1 ? "" : "s", service->devices[0].name);
	return 0;
}

/* Serves jobs until a device is lost, or devices are not to be trusted. */
static gsd_exit
serve(gsd_jobs *jobs, gsd_header *header)
{
	for (;;)
	{
		uint32_t	rings = header->rings;
		gsd_exit	status = gsd_jobs_serve(jobs);

		if (status != GSD_EXIT_ASKED)
			return status;
		gsd_sleep_until_rung(header, rings);
	}
}

static gsd_exit
run_service(const gsd_options *options)
{
	gsd_pool	pool;
	gs_group	group;
	gsd_jobs   *jobs;
	gsd_exit	status;

	signal(SIGTERM, end_at_once);
	signal(SIGUSR1, SIG_IGN);
	if (!follow_supervisor(options))
		return GSD_EXIT_ASKED;
	gsd_wake_driver(options);
	give_up_gaining_privileges();
	status = gsd_map_pool(options, &pool);
	if (status == 0)
		status = start_service(options, &pool, &group);
	if (status != 0)
		return status;
	jobs = gsd_jobs_begin(&pool, &group, options);
	if (jobs == NULL)
		return GSD_EXIT_NO_MEMORY;
	status = serve(jobs, pool.header);

	/* other threads may still use devices, so nothing may be taken down under them */
	_exit(status);
}

int
main(int argc, char **argv)
{
	gsd_options options;

	if (!gsd_read_options(&options, argc, argv))
		return GSD_EXIT_USAGE;
	switch (options.action)
	{
		case GSD_ACTION_VERSION:
			printf("gpusortd %s, pool version %d\n", GPUSORT_VERSION, GSD_ABI_VERSION);
			return 0;
		case GSD_ACTION_HELP:
			gsd_print_help();
			return 0;
		case GSD_ACTION_PROBE:
			return probe(&options);
		case GSD_ACTION_SERVE:
			break;
	}
	return run_service(&options);
}
