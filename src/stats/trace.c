/*
 * trace.c
 *		A trace of sorts; see stats.h.
 *
 * The file is complete JSON after each event: an event overwrites the end of the list, and writes
 * it anew behind itself.  It does so under a lock of the file, since several processes write.
 * There are few events.  Events are also written when a sort ends by an error, so the code that
 * writes them allocates nothing and raises no errors: an event that cannot be written is left out.
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "stats/stats.h"

#define TAIL	"\n]}\n"

/*
 * Our processes hold the lock for some microseconds.  If it is held for longer, another program has
 * it, and we give up.
 */
#define LOCK_ATTEMPTS	100
#define LOCK_RETRY_US	1000L

/*
 * How many lines a device has: one for each of its queues, and one for events whose queue is not
 * known.
 */
#define LINES_PER_DEVICE (GPUSORT_TRACE_ANY_QUEUE + 1)

static char *trace_file = NULL;
static bool begun = false;		/* tried to begin it, since the setting was set */
/* it could not be begun, so there is no trace until it is set again */
static bool refused = false;
static bool named = false;		/* the file has this process's name */
static int	named_pid = 0;		/* gpusortd's pid and the device line that were named last */
static int	named_line = -1;

/* Returns whether the user may write the file, by the rule of COPY TO a file. */
static bool
may_write(void)
{
	return has_privs_of_role(GetOuterUserId(), ROLE_PG_WRITE_SERVER_FILES);
}

/*
 * Returns whether the server could write the file, or could create it in its directory, with errno
 * set if not.
 */
static bool
can_be_written(const char *path)
{
	struct stat st;
	char		directory[MAXPGPATH];

	if (lstat(path, &st) == 0)
	{
		if (S_ISREG(st.st_mode))
			return access(path, W_OK) == 0;
		errno = S_ISDIR(st.st_mode) ? EISDIR : S_ISLNK(st.st_mode) ? ELOOP : EINVAL;
		return false;
	}
	if (errno != ENOENT)
		return false;
	strlcpy(directory, path, sizeof(directory));
	get_parent_directory(directory);
	return access(directory, W_OK | X_OK) == 0;
}

/*
 * Refuses a file that the server cannot write.  A value for other sessions (of a role, say) is not
 * looked at, as the file may be had by then.  Neither is a value that a worker is told by its
 * leader, whose statement must not fail for it.  Whoever may not write files of the server learns
 * nothing about them here: the first sort tells them so.
 */
static bool
check_file(char **value, void **extra, GucSource source)
{
	if ((*value)[0] == '\0')
		return true;
	if (!is_absolute_path(*value))
	{
		GUC_check_errcode(ERRCODE_INVALID_NAME);
		GUC_check_errdetail("A relative path is not allowed for a trace.");
		return false;
	}
	if (source == PGC_S_SESSION && !InitializingParallelWorker && IsTransactionState() &&
		may_write() && !can_be_written(*value))
	{
		GUC_check_errdetail("File \"%s\" cannot be written by the server: %m.", *value);
		return false;
	}
	return true;
}

static void
assign_file(const char *value, void *extra)
{
	begun = refused = named = false;
	named_pid = 0;
}

void
gpusort_define_trace_file(void)
{
	DefineCustomStringVariable("gpusort.trace_file",
							   "Writes a trace of sorts to a file of the server, for Perfetto.",
							   "It is begun anew by the first sort after the setting was set.",
							   &trace_file, "", PGC_SUSET, GUC_NOT_IN_SAMPLE,
							   check_file, assign_file, NULL);
}

static int
session_pid(void)
{
	return MyProc != NULL && MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid
		: MyProcPid;
}

/*
 * Locks the file, until its descriptor is closed.  Returns false if the lock is not to be had
 * within a short time, since a trace must not keep a sort from ending, or from being cancelled.
 */
static bool
lock_file(int file)
{
	for (int i = 0; i < LOCK_ATTEMPTS; i++)
	{
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		pg_usleep(LOCK_RETRY_US);
	}
	return false;
}

/*
 * Creates or empties the file, and writes the beginning of the JSON.  The file is emptied only
 * under the lock, as another session may be writing to it.  If it cannot be written, the sort does
 * not fail: a warning is raised once, and there is no trace.
 */
static bool
create_file(void)
{
	static const char head[] = "{\"traceEvents\":[\n"
		"{\"name\":\"clock\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"CLOCK_MONOTONIC\"}}" TAIL;
	int			file;
	bool		created;

	if (!may_write())
	{
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to write the file of \"%s\"", "gpusort.trace_file"),
				 errdetail("Only roles with privileges of the \"%s\" role may write files of the server.",
						   "pg_write_server_files")));
		return false;
	}
	file = open(trace_file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
	created = file >= 0 && lock_file(file) && ftruncate(file, 0) == 0 &&
		write(file, head, sizeof(head) - 1) == sizeof(head) - 1;
	if (!created)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", trace_file),
				 errhint("There is no trace of sorts until \"%s\" is set again.", "gpusort.trace_file")));
	if (file >= 0)
		close(file);
	return created;
}

bool
gpusort_trace_begin(void)
{
	if (trace_file == NULL || trace_file[0] == '\0' || refused)
		return false;
	if (!begun)
		refused = IsParallelWorker() ? !may_write() : !create_file();
	begun = true;
	return !refused;
}

/* Appends an event to those in the file. */
static void
append(const char *event)
{
	char		text[512];
	int			length = snprintf(text, sizeof(text), ",\n%s" TAIL, event);
	int			file = open(trace_file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	off_t		end;

	if (file < 0)
		return;
	/* without the lock, or the beginning of the JSON, there is no place to write to */
	if (lock_file(file) &&
		(end = lseek(file, 0, SEEK_END)) >= (off_t) strlen(TAIL))
		(void) !pwrite(file, text, length, end - (off_t) strlen(TAIL));
	close(file);
}

static void
append_name(const char *what, int pid, int tid, const char *name)
{
	char		event[256];

	snprintf(event, sizeof(event),
			 "{\"name\":\"%s\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"%s\"}}",
			 what, pid, tid, name);
	append(event);
}

/* Writes the names of this process's lines into the file, once. */
static void
name_process(void)
{
	if (named)
		return;
	named = true;
	if (session_pid() == MyProcPid)
		append_name("process_name", MyProcPid, MyProcPid, "PostgreSQL session");
	append_name("thread_name", session_pid(), MyProcPid,
				session_pid() == MyProcPid ? "leader" : "worker");
}

/*
 * Returns how far the server's clock, which may be another one, is behind the machine's monotonic
 * clock.
 */
static double
clock_offset_ms(void)
{
	double		offset = 0;
	double		least = 1e9;

	for (int i = 0; i < 5; i++)
	{
		struct timespec before;
		struct timespec after;
		instr_time	now;
		double		ms;
		double		took;

		clock_gettime(CLOCK_MONOTONIC, &before);
		INSTR_TIME_SET_CURRENT(now);
		clock_gettime(CLOCK_MONOTONIC, &after);
		ms = before.tv_sec * 1e3 + before.tv_nsec / 1e6;
		took = after.tv_sec * 1e3 + after.tv_nsec / 1e6 - ms;
		if (took >= least)
			continue;
		least = took;
		offset = ms + took / 2 - INSTR_TIME_GET_MILLISEC(now);
	}
	/* a difference that small means that both are the same clock */
	return fabs(offset) <= least ? 0 : offset;
}

double
gpusort_trace_ms(instr_time time)
{
	static double offset = 0;
	static bool known = false;

	if (!known)
		offset = clock_offset_ms();
	known = true;
	return INSTR_TIME_GET_MILLISEC(time) + offset;
}

void
gpusort_trace_event(const char *name, const char *kind, instr_time start, instr_time end,
					uint64 rows)
{
	char		event[384];
	instr_time	took = end;

	name_process();
	INSTR_TIME_SUBTRACT(took, start);
	snprintf(event, sizeof(event),
			 "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{\"rows\":%llu}}",
			 name, kind, gpusort_trace_ms(start) * 1000.0,
			 INSTR_TIME_GET_MILLISEC(took) * 1000.0, session_pid(), MyProcPid,
			 (unsigned long long) rows);
	append(event);
}

/* Writes the name of the line of a device's queue, unless it was the last name written. */
static void
name_line(int pid, unsigned device, unsigned queue, int line)
{
	static const char *const queues[] = {"up", "work", "work 2", "down"};
	char		label[48];

	if (pid == named_pid && line == named_line)
		return;
	if (queue < lengthof(queues))
		snprintf(label, sizeof(label), "device %u, %s", device, queues[queue]);
	else
		snprintf(label, sizeof(label), "device %u", device);
	append_name("process_name", pid, 0, "gpusortd");
	append_name("thread_name", pid, line, label);
	named_pid = pid;
	named_line = line;
}

void
gpusort_trace_device(uint32 pid, unsigned device, unsigned queue, const char *name,
					 double begin_ms, double end_ms, uint64 rows)
{
	char		event[384];
	int			line = (int) (device * LINES_PER_DEVICE + Min(queue, GPUSORT_TRACE_ANY_QUEUE));

	name_line((int) pid, device, queue, line);
	snprintf(event, sizeof(event),
			 "{\"name\":\"%s\",\"cat\":\"device\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%u,\"tid\":%d,\"args\":{\"rows\":%llu}}",
			 name, begin_ms * 1000.0, (end_ms - begin_ms) * 1000.0, pid, line,
			 (unsigned long long) rows);
	append(event);
}
