/*
 * out_stream.c
 *		Formats rows as bytes, and writes these to a file, a program or the client, by one process.
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

#include "bulk/out_stream_private.h"

/* ---------- the target ---------- */

/* The error messages are those of PostgreSQL's COPY. */

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
 * waits for the client, and notices only the session's end meanwhile, which alone can cut off a
 * message; a cancel is noticed between writes.
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

/* ---------- the stream ---------- */

/*
 * The size at which a buffer is written: what a core's cache has room for besides the rows.  A
 * client gets less at a time, since it may be waiting for the first rows of a slow query, of which
 * the server itself holds 8 kB back.
 */
#define BUFFER_BYTES		(64 * 1024)
#define CLIENT_BUFFER_BYTES (32 * 1024)

void
gpusort_out_begin_stream(GpuSortOutStream *stream, const GpuSortOutFormat *format,
						 const GpuSortOutColumn *columns, GpuSortOutTarget *target)
{
	memset(stream, 0, sizeof(*stream));
	stream->format = *format;
	stream->rows = gpusort_out_begin_rows(format, columns);
	stream->target = target;
	initStringInfo(&stream->buffer);
	stream->buffer_bytes = target->file != NULL ? BUFFER_BYTES : CLIENT_BUFFER_BYTES;
	enlargeStringInfo(&stream->buffer, stream->buffer_bytes);
}

/*
 * Returns the number of bytes without the types and lengths of so many messages, of which all the
 * bytes consist.
 */
static Size
without_frames(const GpuSortOutStream *stream, Size bytes, uint64 messages)
{
	return stream->format.messages ? bytes - messages * GPUSORT_OUT_MESSAGE_BYTES : bytes;
}

void
gpusort_out_flush_stream(GpuSortOutStream *stream)
{
	gpusort_out_write(stream->target, stream->buffer.data, stream->buffer.len, stream->buffer_rows,
					  without_frames(stream, stream->buffer.len, stream->buffer_messages));
	gpusort_out_drop_rows(stream);
}

void
gpusort_out_drop_rows(GpuSortOutStream *stream)
{
	resetStringInfo(&stream->buffer);
	stream->buffer_rows = 0;
	stream->buffer_messages = 0;
}

void
gpusort_out_write_rows(GpuSortOutStream *stream, const char *data, Size length, uint64 rows)
{
	gpusort_out_write(stream->target, data, length, rows, without_frames(stream, length, rows));
}

void
gpusort_out_hold_row(GpuSortOutStream *stream, TupleTableSlot *slot)
{
	gpusort_out_put_row(stream->rows, slot, &stream->buffer);
	stream->buffer_rows++;
	stream->buffer_messages++;
}

void
gpusort_out_stream_row(GpuSortOutStream *stream, TupleTableSlot *slot)
{
	gpusort_out_hold_row(stream, slot);
	if (unlikely(stream->buffer.len >= stream->buffer_bytes))
		gpusort_out_flush_stream(stream);
}

void
gpusort_out_stream_header(GpuSortOutStream *stream, TupleDesc desc)
{
	gpusort_out_put_header(stream->rows, desc, &stream->buffer);
	stream->buffer_messages++;
}

void
gpusort_out_stream_bytes(GpuSortOutStream *stream, const char *data, int length)
{
	int			begin = gpusort_out_begin_message(&stream->format, &stream->buffer);

	appendBinaryStringInfo(&stream->buffer, data, length);
	gpusort_out_end_message(&stream->format, &stream->buffer, begin);
	stream->buffer_messages++;
}
