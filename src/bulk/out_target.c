/*
 * out_target.c
 *		Writes formatted rows to a file, a program or the client; see out_target.h.
 *
 * The error messages are those of PostgreSQL's COPY.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/parallel.h"
#include "commands/progress.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/fd.h"
#include "tcop/tcopprot.h"
#include "utils/backend_progress.h"

/*
 * libpq/libpq.h includes headers of the libraries for GSSAPI and TLS, for fields of struct Port
 * that are not used here.  Without these macros the libraries' headers need not be installed.
 */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL
#include "libpq/libpq.h"

#include "bulk/out_target.h"

/* A file gets so many bytes at a time; a cancel is noticed between two writes. */
#define WRITE_BYTES (64 * 1024)

/* Open a file as COPY does, writable only by its owner. */
static FILE *
allocate_file(const char *filename)
{
	mode_t		mask = umask(S_IWGRP | S_IWOTH);
	FILE	   *file;

	PG_TRY();
	{
		file = AllocateFile(filename, PG_BINARY_W);
	}
	PG_FINALLY();
	{
		umask(mask);
	}
	PG_END_TRY();
	return file;
}

void
gpusort_out_open_file(GpuSortOutTarget *target, const char *filename)
{
	struct stat st;

	target->filename = filename;
	target->file = allocate_file(filename);
	if (target->file == NULL)
	{
		int			error = errno;

		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\" for writing: %m", filename),
				 error == ENOENT || error == EACCES ?
				 errhint("COPY TO instructs the PostgreSQL server process to write a file. "
						 "You may want a client-side facility such as psql's \\copy.") : 0));
	}
	if (fstat(fileno(target->file), &st) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not stat file \"%s\": %m", filename)));
	if (S_ISDIR(st.st_mode))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a directory", filename)));
}

void
gpusort_out_open_program(GpuSortOutTarget *target, const char *command)
{
	target->program = command;
	target->file = OpenPipeStream(command, PG_BINARY_W);
	if (target->file == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not execute command \"%s\": %m", command)));
}

static void
close_program(GpuSortOutTarget *target)
{
	int			status = ClosePipeStream(target->file);

	if (status == -1)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close pipe to external command: %m")));
	if (status != 0)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("program \"%s\" failed", target->program),
				 errdetail_internal("%s", wait_result_to_str(status))));
}

/*
 * Raise the error of a failed write.  If a program has ended early, its exit status may tell more.
 */
static void
report_write_error(GpuSortOutTarget *target)
{
	if (target->program == NULL)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write to COPY file: %m")));
	if (errno == EPIPE)
	{
		close_program(target);
		errno = EPIPE;
	}
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not write to COPY program: %m")));
}

/* Write to a file or program. */
static void
write_file(GpuSortOutTarget *target, const char *data, Size length)
{
	for (Size done = 0; done < length; done += WRITE_BYTES)
	{
		Size		bytes = Min(WRITE_BYTES, length - done);

		CHECK_FOR_INTERRUPTS();
		if (fwrite(data + done, 1, bytes, target->file) != bytes || ferror(target->file))
			report_write_error(target);
	}
}

bool
gpusort_out_client_is_there(void)
{
	static const PQcommMethods *socket_methods = NULL;

	/* other methods replace those of the socket only later, and for a while */
	if (socket_methods == NULL)
		socket_methods = PqCommMethods;
	return whereToSendOutput == DestRemote && MyProcPort != NULL && !IsParallelWorker() &&
		PqCommMethods == socket_methods;
}

/*
 * Report that the connection is lost, and end at the next check for interrupts, as the server does.
 */
static void
lose_connection(void)
{
	ereport(COMMERROR,
			(errcode_for_socket_access(),
			 errmsg("could not send data to client: %m")));
	ClientConnectionLost = 1;
	InterruptPending = 1;
	CHECK_FOR_INTERRUPTS();
}

/*
 * Write whole messages to the client, after those that the server has in its own buffer.  A write
 * waits for the client and looks for interrupts itself.  A message can be cut off only by the end
 * of the session.
 */
static void
write_client(const char *data, Size length)
{
	CHECK_FOR_INTERRUPTS();
	if (pq_flush() != 0)
	{
		CHECK_FOR_INTERRUPTS();
		return;
	}
	while (length > 0 && !ClientConnectionLost)
	{
		ssize_t		sent = secure_write(MyProcPort, unconstify(char *, data), length);

		if (sent > 0)
		{
			data += sent;
			length -= sent;
		}
		else if (errno != EINTR)
			lose_connection();
	}
}

static void
write_any(GpuSortOutTarget *target, const char *data, Size length)
{
	if (target->file != NULL)
		write_file(target, data, length);
	else
		write_client(data, length);
}

/*
 * Write the first piece, with the prefix in front of it.  If it begins with a message, that message
 * becomes longer.
 */
static void
write_first(GpuSortOutTarget *target, const char *data, Size length)
{
	StringInfoData first;

	initStringInfo(&first);
	if (target->file == NULL)
	{
		uint32		message;

		memcpy(&message, data + 1, sizeof(message));
		message = pg_hton32(pg_ntoh32(message) + target->prefix_length);
		appendStringInfoChar(&first, *data);
		appendBinaryStringInfo(&first, (char *) &message, sizeof(message));
		data += first.len;
		length -= first.len;
	}
	appendBinaryStringInfo(&first, target->prefix, target->prefix_length);
	appendBinaryStringInfo(&first, data, length);
	write_any(target, first.data, first.len);
	pfree(first.data);
	target->bytes += target->prefix_length;
	target->prefix = NULL;
}

void
gpusort_out_write(GpuSortOutTarget *target, const char *data, Size length, uint64 rows,
				  uint64 bytes)
{
	if (length == 0)
		return;
	if (target->prefix != NULL)
		write_first(target, data, length);
	else
		write_any(target, data, length);
	target->rows += rows;
	target->bytes += bytes;
	if (target->copy)
	{
		pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, target->bytes);
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, target->rows);
	}
}

void
gpusort_out_close(GpuSortOutTarget *target)
{
	if (target->program != NULL)
		close_program(target);
	else if (target->file != NULL && FreeFile(target->file) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", target->filename)));
}
