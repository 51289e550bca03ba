/*
 * trace.c
 *		A trace of sorts; see trace.h.
 *
 * The file is complete JSON after each event: the end of the list is overwritten by the next one,
 * under a lock of the file, since several processes write.  Events are few.  They are also written
 * when a sort ends by an error, so nothing here allocates or fails, but at the beginning: an event
 * that can't be written is missing.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

static char *trace_file = NULL;
static bool begun = false;		/* since the setting was set */
static bool named = false;		/* this process is, in the file */

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
	begun = named = false;
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

/* As COPY TO a file has it. */
static void
create_file(void)
{
	static const char head[] = "{\"traceEvents\":[\n"
		"{\"name\":\"clock\",\"ph\":\"M\",\"pid\":0,\"args\":{\"name\":\"CLOCK_MONOTONIC\"}}" TAIL;
	int			file;

	if (!has_privs_of_role(GetOuterUserId(), ROLE_PG_WRITE_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to write the file of \"%s\"", "gpusort.trace_file"),
				 errdetail("Only roles with privileges of the \"%s\" role may write files of the server.",
						   "pg_write_server_files")));
	file = open(trace_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
				S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
	if (file < 0 || write(file, head, sizeof(head) - 1) != sizeof(head) - 1)
	{
		int			saved_errno = errno;

		if (file >= 0)
			close(file);
		errno = saved_errno;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", trace_file)));
	}
	close(file);
}

bool
gpusort_trace_begin(void)
{
	if (trace_file == NULL || trace_file[0] == '\0')
		return false;
	if (!begun && !IsParallelWorker())
		create_file();
	begun = true;
	return true;
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

void
gpusort_trace_event(const char *name, const char *kind, instr_time start, instr_time end,
					uint64 rows)
{
	char		event[384];
	instr_time	took = end;

	name_process();
	INSTR_TIME_SUBTRACT(took, start);
	snprintf(event, sizeof(event),
			 "{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%lld,\"dur\":%.3f,\"pid\":%d,\"tid\":%d,\"args\":{\"rows\":%llu}}",
			 name, kind, (long long) INSTR_TIME_GET_MICROSEC(start),
			 INSTR_TIME_GET_MILLISEC(took) * 1000.0, session_pid(), MyProcPid,
			 (unsigned long long) rows);
	append(event);
}

void
gpusort_trace_device(uint32 pid, unsigned device, const char *name, instr_time start, double ms,
					 uint64 rows)
{
	char		event[384];
	char		label[32];

	append_name("process_name", (int) pid, 0, "gpusortd");
	snprintf(label, sizeof(label), "device %u", device);
	append_name("thread_name", (int) pid, (int) device, label);
	snprintf(event, sizeof(event),
			 "{\"name\":\"%s\",\"cat\":\"device\",\"ph\":\"X\",\"ts\":%lld,\"dur\":%.3f,\"pid\":%u,\"tid\":%u,\"args\":{\"rows\":%llu}}",
			 name, (long long) INSTR_TIME_GET_MICROSEC(start), ms * 1000.0, pid, device,
			 (unsigned long long) rows);
	append(event);
}
