/*
 * daemon_process.c
 *		gpusortd as a process: its command line, its birth and its death.
 *
 * The program lies beside the library, wherever the server has loaded that from, or
 * where `make install` puts it.  It shares the pool with the server and nothing else.
 * Of the server's open files it gets the log and the memfd of the pool.  It runs in the
 * root directory.  Of the environment, which may hold secrets, it gets the variables that
 * a CUDA driver reads.  It gives up the right to gain privileges by itself, once the
 * driver has been initialized (daemon_devices.c).
 *
 * There is no filter of system calls.  Which calls a driver makes changes with its
 * version, and it does its work by ioctl(), which a filter can't look into.  A filter that
 * let all ioctl() calls through would not keep much out, and before Linux 5.16 it would
 * slow the program down.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "miscadmin.h"

#include "protocol/gsd_pool.h"
#include "service/daemon_private.h"
#include "service/service.h"

#define PROGRAM "gpusortd"

/* How many arguments come behind gpusort.daemon_options, and how many there are at most. */
#define FIXED_ARGUMENTS 3
#define MAX_ARGUMENTS	24

/*
 * The most variables of the environment; and the beginnings of their names, which libcuda.so reads.
 */
#define MAX_VARIABLES	64

static const char *const kept_variables[] = {
	"HOME=",					/* the cache of compiled kernels */
	"LD_LIBRARY_PATH=",
	"TMPDIR=",
	"CUDA_",
	"NVIDIA_"
};

/* The file descriptor where the program finds the pool's memfd. */
#define POOL_FD			(STDERR_FILENO + 1)

/* Where close_range() is missing, file descriptors from this on are not closed. */
#define MAX_FD			1024

/* The arguments of execve(). */
typedef struct CommandLine
{
	char		path[MAXPGPATH];
	char	   *argv[MAX_ARGUMENTS + 1];
	int			argc;
	char	   *envp[MAX_VARIABLES + 1];
} CommandLine;

extern char **environ;

/* The words of /proc/<pid>/stat from ppid to nice. */
#define PROC_WORDS_BETWEEN " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"

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

/* Adds arguments that are separated by spaces, as many as there is room for. */
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

/* Returns whether the program gets a variable ("NAME=value") of the environment. */
static bool
is_kept(const char *variable)
{
	for (int i = 0; i < lengthof(kept_variables); i++)
		if (strncmp(variable, kept_variables[i], strlen(kept_variables[i])) == 0)
			return true;
	return false;
}

static void
choose_environment(CommandLine *command)
{
	int			n = 0;

	for (char **variable = environ; *variable != NULL && n < MAX_VARIABLES; variable++)
		if (is_kept(*variable))
			command->envp[n++] = *variable;
}

/* Finds the directory that this library was loaded from; pkglib_path if that can't be told. */
static void
library_directory(char *directory)
{
	Dl_info		library;

	if (dladdr((void *) gpusort_start_daemon, &library) != 0 && library.dli_fname != NULL &&
		is_absolute_path(library.dli_fname))
	{
		strlcpy(directory, library.dli_fname, MAXPGPATH);
		get_parent_directory(directory);
	}
	else
		strlcpy(directory, pkglib_path, MAXPGPATH);
}

/* Finds the program: beside the library, or else in the server's pkglib_path. */
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
	add_argument(command, "--pool-fd=%d", POOL_FD);
	add_argument(command, "--pool-bytes=" UINT64_FORMAT, pool->header->pool_bytes);
	choose_environment(command);
}

static void
free_command_line(CommandLine *command)
{
	for (int i = 0; i < command->argc; i++)
		pfree(command->argv[i]);
}

/* Closes all files but the log, and moves the pool's memfd to POOL_FD. */
static void
keep_pool_file(const gsd_pool *pool)
{
	int			nothing = open("/dev/null", O_RDWR);

	(void) dup2(nothing, STDIN_FILENO);
	(void) dup2(nothing, STDOUT_FILENO);
	if (pool->fd != POOL_FD)
		(void) dup2(pool->fd, POOL_FD);
	else
		(void) fcntl(POOL_FD, F_SETFD, 0);
	if (close_range(POOL_FD + 1, ~0U, 0) != 0)
		for (int fd = POOL_FD + 1; fd < MAX_FD; fd++)
			(void) close(fd);
}

/*
 * Becomes the program, in the forked child: calls only what is safe after fork(), and nothing of
 * PostgreSQL's.  The program gets a session of its own, since the postmaster signals the process
 * group of each of its children.
 */
static void
become_program(const gsd_pool *pool, const CommandLine *command)
{
	sigset_t	none;

	for (int i = 1; i < NSIG; i++)
		(void) signal(i, SIG_DFL);
	sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
	(void) setsid();
	keep_pool_file(pool);
	(void) umask(S_IRWXG | S_IRWXO);
	if (chdir("/") == 0)
		execve(command->path, command->argv, command->envp);
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

	/* signals are blocked, since the child must not run our signal handlers */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &saved);
	pid = fork();
	if (pid == 0)
		become_program(pool, &command);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	free_command_line(&command);
	return pid;
}

/*
 * /proc/<pid>/stat begins with "pid (name) state" and has the number of threads 17 words
 * further on.  The first thread may be dead while a driver still holds up another thread;
 * then the process is alive.
 */
bool
gpusort_daemon_is_alive(pid_t pid)
{
	char		path[64];
	char		name[64];
	char		state;
	long		threads;
	FILE	   *file;
	int			nread;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	file = fopen(path, "r");
	if (file == NULL)
		return kill(pid, 0) == 0;
	nread = fscanf(file, "%*d (%63[^)]) %c" PROC_WORDS_BETWEEN " %ld", name, &state, &threads);
	fclose(file);
	if (nread < 3 || strcmp(name, PROGRAM) != 0)
		return false;
	return (state != 'Z' && state != 'X') || threads > 1;
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

/* Writes why a program has exited with this status to `reason`, which has `size` bytes. */
static void
describe_exit(int status, const char *said, char *reason, size_t size)
{
	switch ((gsd_exit) status)
	{
		case GSD_EXIT_NO_DEVICE:
		case GSD_EXIT_NO_CUDA:
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
		case GSD_EXIT_DEVICE_WRONG:
			strlcpy(reason, "its devices have sorted wrongly twice", size);
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

	death.no_device = code == GSD_EXIT_NO_DEVICE || code == GSD_EXIT_NO_CUDA ||
		code == GSD_EXIT_DEVICE_WRONG;
	death.permanent = gsd_exit_is_permanent(code);
	death.may_change = death.permanent && code != GSD_EXIT_NO_CUDA;
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
