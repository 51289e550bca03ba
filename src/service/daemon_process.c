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

#include "service/daemon_process.h"
#include "service/service_settings.h"

#define PROGRAM "gpusortd"

/* Exit statuses of gpusortd, and one of ours for a program that is not there. */
#define STATUS_USAGE		1
#define STATUS_NO_DEVICE	3
#define STATUS_WRONG_POOL	4
#define STATUS_DEVICE_LOST	5
#define STATUS_NO_PROGRAM	127

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

DaemonSettings
gpusort_daemon_settings(void)
{
	DaemonSettings settings;

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
make_command_line(CommandLine *command, const gsd_pool *pool, const DaemonSettings *settings)
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
	_exit(STATUS_NO_PROGRAM);
}

pid_t
gpusort_start_daemon(const gsd_pool *pool, const DaemonSettings *settings)
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

DaemonDeath
gpusort_daemon_death(int status, const char *said)
{
	DaemonDeath death = {0};
	int			code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	death.no_device = code == STATUS_NO_DEVICE;
	death.permanent = death.no_device || code == STATUS_USAGE || code == STATUS_WRONG_POOL ||
		code == STATUS_NO_PROGRAM;
	if (code == STATUS_NO_DEVICE)
		strlcpy(death.reason, said[0] != '\0' ? said : "no device", sizeof(death.reason));
	else if (code == STATUS_USAGE)
		strlcpy(death.reason, "it did not understand its command line", sizeof(death.reason));
	else if (code == STATUS_WRONG_POOL)
		strlcpy(death.reason, "it is of another version than the library", sizeof(death.reason));
	else if (code == STATUS_DEVICE_LOST)
		strlcpy(death.reason, "a device is lost", sizeof(death.reason));
	else if (code == STATUS_NO_PROGRAM)
		describe_missing_program(death.reason, sizeof(death.reason));
	else if (code >= 0)
		snprintf(death.reason, sizeof(death.reason), "it exited with status %d", code);
	else
		snprintf(death.reason, sizeof(death.reason), "it was terminated by signal %d",
				 WTERMSIG(status));

	if (death.no_device)
		snprintf(death.message, sizeof(death.message), "gpusort uses no GPU: %s", death.reason);
	else
		snprintf(death.message, sizeof(death.message), "gpusortd has ended: %s", death.reason);
	return death;
}
