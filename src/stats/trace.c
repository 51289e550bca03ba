/*
 * trace.c
 *		A trace of sorts; see trace.h.
 *
 * The file is complete JSON after each event: the end of the list is overwritten by the next one,
 * under a lock of the file, since several processes write.  Events are few.  They are also written
 * when a sort ends by an error, so nothing here allocates, but at the beginning, and nothing fails: an
 * event that can't be written is missing.
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "access/parallel.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/guc.h"

#include "stats/trace.h"

#define TAIL	"\n]}\n"

/* Others have the lock for some microseconds; who has it for longer is not one of us. */
#define LOCK_ATTEMPTS	100
#define LOCK_RETRY_US	1000L

/* A device's lines: its queues, and what is not known to be in one. */
#define LINES_PER_DEVICE (GPUSORT_TRACE_ANY_QUEUE + 1)

static char *trace_file = NULL;
static bool begun = false;		/* since the setting was set */
static bool refused = false;	/* it could not be begun: there is none until it is set again */
static bool named = false;		/* this process is, in the file */
static int	named_pid = 0;		/* of gpusortd, and the line of a device that was named last */
static int	named_line = -1;

static bool
check_file(char **value, void **extra, GucSource source)
{
	if ((*value)[0] == '\0' || is_absolute_path(*value))
		return true;
	GUC_check_errcode(ERRCODE_INVALID_NAME);
	GUC_check_errdetail("A relative path is not allowed for a trace.");
	return false;
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
 * Lock the file; the lock goes with the descriptor.  Not for as long as it may take: a trace keeps
 * no sort from ending, nor from being cancelled.
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

/* As COPY TO a file has it. */
static bool
may_write(void)
{
	return has_privs_of_role(GetOuterUserId(), ROLE_PG_WRITE_SERVER_FILES);
}

/*
 * Emptied under the lock, as another session may be writing to it.  What keeps it from being
 * written is no reason for a sort to fail: it is told once, and there is no trace.
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

/* Put an event behind those that are there. */
static void
append(const char *event)
{
	char		text[512];
	int			length = snprintf(text, sizeof(text), ",\n%s" TAIL, event);
	int			file = open(trace_file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	off_t		end;

	if (file < 0)
		return;
	/* without the lock, or the head, there is no place to write to */
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

/* Say whose lines these are, once. */
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

/* How far the server's clock, which may be another one, is behind the machine's monotonic one. */
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
	/* the same clock */
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

/* Say which line a device's queue has; once for those that follow each other. */
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
