/*
 * daemon_process.c
 *		gpusortd as a process: its command line, its birth and its death.
 *
 * The program lies beside the library, wherever the server has loaded that from, or
 * where `make install` puts it.  It inherits the pool's memfd and the
 * bells, and no other file: it must not hold on to the server's sockets or data.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "protocol/gsd_exit.h"
#include "service/daemon_process.h"
#include "service/service_settings.h"

#define PROGRAM "gpusortd"

/* Those behind the settings, and all. */
#define FIXED_ARGUMENTS 6
#define MAX_ARGUMENTS	24

/* Where close_range() is missing, files with larger numbers are not looked for. */
#define MAX_FD	1024

typedef struct CommandLine
{
	char		path[MAXPGPATH];
	char	   *argv[MAX_ARGUMENTS + 1];
	int			argc;
} CommandLine;

GpuSortDaemonSettings
gpusort_daemon_settings(void)
{
	GpuSortDaemonSettings settings;

	memset(&settings, 0, sizeof(settings));
	strlcpy(settings.daemon, gpusort_daemon, sizeof(settings.daemon));
	strlcpy(settings.devices, gpusort_device_list, sizeof(settings.devices));
	strlcpy(settings.memory, gpusort_device_memory, sizeof(settings.memory));
	strlcpy(settings.options, gpusort_daemon_options, sizeof(settings.options));
	return settings;
}

static void
add_argument(CommandLine *command, const char *format,...) pg_attribute_printf(2, 3);

static void
add_argument(CommandLine *command, const char *format,...)
{
	char		text[1024];
	va_list		args;

	Assert(command->argc < MAX_ARGUMENTS);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	command->argv[command->argc++] = pstrdup(text);
	command->argv[command->argc] = NULL;
}

/* Arguments separated by spaces; those that are too many are left out. */
static void
add_arguments(CommandLine *command, const char *text)
{
	for (;;)
	{
		size_t		length;

		text += strspn(text, " ");
		length = strcspn(text, " ");
		if (length == 0 || command->argc >= MAX_ARGUMENTS - FIXED_ARGUMENTS)
			return;
		add_argument(command, "%.*s", (int) length, text);
		text += length;
	}
}

static void
add_job_bells(CommandLine *command, const gsd_pool *pool)
{
	StringInfoData bells;

	initStringInfo(&bells);
	for (int i = 0; i < GSD_MAX_JOBS; i++)
		appendStringInfo(&bells, "%s%d", i > 0 ? "," : "", pool->job_bells[i]);
	add_argument(command, "--job-bells=%s", bells.data);
	pfree(bells.data);
}

/* The directory that this library was loaded from; pkglib_path if that can't be told. */
static void
library_directory(char *directory)
{
	Dl_info		library;

	if (dladdr((void *) gpusort_start_daemon, &library) != 0 && library.dli_fname != NULL)
	{
		strlcpy(directory, library.dli_fname, MAXPGPATH);
		get_parent_directory(directory);
	}
	else
		strlcpy(directory, pkglib_path, MAXPGPATH);
}

/* The program beside the library, or else in the server's own directory. */
static void
find_program(char *path)
{
	char		directory[MAXPGPATH];

	library_directory(directory);
	join_path_components(path, directory, PROGRAM);
	if (access(path, X_OK) != 0)
		join_path_components(path, pkglib_path, PROGRAM);
}

static void
make_command_line(CommandLine *command, const gsd_pool *pool, const GpuSortDaemonSettings *settings)
{
	int			simulated_devices = gpusort_daemon_simulated_devices(settings->daemon);

	memset(command, 0, sizeof(*command));
	find_program(command->path);
	add_argument(command, "%s", PROGRAM);
	if (simulated_devices > 0)
	{
		add_argument(command, "--engine=host");
		add_argument(command, "--devices=%d", simulated_devices);
	}
	else
	{
		add_argument(command, "--engine=%s", settings->daemon);
		add_argument(command, "--devices=%s", settings->devices);
	}
	add_argument(command, "--device-memory=%s", settings->memory);
	add_arguments(command, settings->options);
	add_argument(command, "--supervisor-pid=%d", (int) getpid());
	add_argument(command, "--pool-fd=%d", pool->fd);
	add_argument(command, "--pool-bytes=" UINT64_FORMAT, pool->header->pool_bytes);
	add_argument(command, "--doorbell=%d", pool->doorbell);
	add_argument(command, "--supervisor-bell=%d", pool->supervisor_bell);
	add_job_bells(command, pool);
}

static void
free_command_line(CommandLine *command)
{
	for (int i = 0; i < command->argc; i++)
		pfree(command->argv[i]);
}

/* Of all files above stderr, only the pool and the bells outlive exec. */
static void
keep_pool_files(const gsd_pool *pool)
{
	if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		for (int fd = STDERR_FILENO + 1; fd < MAX_FD; fd++)
			(void) fcntl(fd, F_SETFD, FD_CLOEXEC);
	(void) fcntl(pool->fd, F_SETFD, 0);
	(void) fcntl(pool->doorbell, F_SETFD, 0);
	(void) fcntl(pool->supervisor_bell, F_SETFD, 0);
	for (int i = 0; i < GSD_MAX_JOBS; i++)
		(void) fcntl(pool->job_bells[i], F_SETFD, 0);
}

/* In the child: only what is safe after fork, and nothing of PostgreSQL's. */
static void
become_program(const gsd_pool *pool, const CommandLine *command)
{
	sigset_t	none;

	for (int i = 1; i < NSIG; i++)
		(void) signal(i, SIG_DFL);
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	keep_pool_files(pool);
	execv(command->path, command->argv);
	_exit(errno == ENOMEM || errno == EAGAIN ? GSD_EXIT_NO_MEMORY : GSD_EXIT_NO_PROGRAM);
}

pid_t
gpusort_start_daemon(const gsd_pool *pool, const GpuSortDaemonSettings *settings)
{
	CommandLine command;
	sigset_t	all;
	sigset_t	saved;
	pid_t		pid;

	make_command_line(&command, pool, settings);

	/* the child must not run our signal handlers */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &saved);
	pid = fork();
	if (pid == 0)
		become_program(pool, &command);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	free_command_line(&command);
	return pid;
}

static void
describe_missing_program(char *reason, size_t size)
{
	char		directory[MAXPGPATH];

	library_directory(directory);
	if (strcmp(directory, pkglib_path) == 0)
		snprintf(reason, size, "there is no program %s/%s", directory, PROGRAM);
	else
		snprintf(reason, size, "there is no program %s in %s or %s", PROGRAM, directory,
				 pkglib_path);
}

/* Why a program that has exited with this status is not there any more. */
static void
describe_exit(int status, const char *said, char *reason, size_t size)
{
	switch ((gsd_exit) status)
	{
		case GSD_EXIT_NO_DEVICE:
			strlcpy(reason, said[0] != '\0' ? said : "no device", size);
			break;
		case GSD_EXIT_USAGE:
			strlcpy(reason, "it did not understand its command line", size);
			break;
		case GSD_EXIT_WRONG_POOL:
			strlcpy(reason, "it is of another version than the library", size);
			break;
		case GSD_EXIT_DEVICE_LOST:
			strlcpy(reason, "a device is lost", size);
			break;
		case GSD_EXIT_NO_MEMORY:
			strlcpy(reason, "it ran out of memory", size);
			break;
		case GSD_EXIT_NO_PROGRAM:
			describe_missing_program(reason, size);
			break;
		default:
			snprintf(reason, size, "it exited with status %d", status);
			break;
	}
}

GpuSortDaemonDeath
gpusort_daemon_death(int status, const char *said)
{
	GpuSortDaemonDeath death = {0};
	int			code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	death.no_device = code == GSD_EXIT_NO_DEVICE;
	death.permanent = gsd_exit_is_permanent(code);
	if (code >= 0)
		describe_exit(code, said, death.reason, sizeof(death.reason));
	else
		snprintf(death.reason, sizeof(death.reason), "it was terminated by signal %d",
				 WTERMSIG(status));

	if (death.no_device)
		snprintf(death.message, sizeof(death.message), "gpusort uses no GPU: %s", death.reason);
	else
		snprintf(death.message, sizeof(death.message), "gpusortd has ended: %s", death.reason);
	return death;
}
