/*
 * load_source.c
 *		Where the bytes of a COPY FROM come from; see load_input_private.h.
 */
#include "postgres.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/copyfrom_internal.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "load/load_share_private.h"
#include "load/load_state_private.h"
#include "parse/gs_dialect.h"
#include "pg_compat/copy.h"

/*
 * This header includes those of the libraries for GSSAPI and TLS, because of a struct that is not
 * used here.  They need not be installed.
 */
#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL
#include "libpq/libpq.h"

#include "elapsed.h"
#include "load/load_input_private.h"
#include "team/worker_wait.h"

/* ---------- what PostgreSQL has read ahead ---------- */

/*
 * Moves to "buffer" what the stream of a file or a program has in its buffer, up to "room" bytes.
 * The stream can't tell how much that is.  So its file is the null device for a moment, which has
 * nothing to add.  Returns false if this was not done, or there is more: then the stream goes on
 * behind what was moved.
 */
static bool
empty_stream(FILE *stream, char *buffer, Size room, Size *moved)
{
	int			file = fileno(stream);
	int			flags = fcntl(file, F_GETFD);
	int			own = dup(file);
	int			null = open("/dev/null", O_RDONLY);
	bool		done = own >= 0 && null >= 0 && dup2(null, file) >= 0;
	bool		restored = true;

	*moved = 0;
	if (done)
	{
		*moved = fread(buffer, 1, room, stream);
		clearerr(stream);
		restored = dup2(own, file) >= 0 && fcntl(file, F_SETFD, flags) >= 0;
	}
	if (own >= 0)
		close(own);
	if (null >= 0)
		close(null);
	if (!restored)
		elog(ERROR, "could not restore the file of a COPY: %m");
	return done && *moved < room;
}

Size
gpusort_source_begin(GpuSortLoadSource *source, CopyFromState copy, char *buffer)
{
	Size		bytes = RAW_BUF_BYTES(copy);
	Size		moved = 0;

	memset(source, 0, sizeof(*source));
	source->copy = copy;
	source->bytes = copy->bytes_processed;
	source->failed = bytes >= GPUSORT_LOAD_CHUNK_BYTES;
	/* a stream may have read ahead even if nothing is left of what PostgreSQL took from it */
	if (!gpusort_copy_format_is_binary(&copy->opts) || source->failed)
		return 0;
	memcpy(buffer, copy->raw_buf + copy->raw_buf_index, bytes);
	copy->raw_buf_index = 0;
	copy->raw_buf_len = 0;
	if (copy->copy_src == COPY_FILE)
		source->failed = !empty_stream(copy->copy_file, buffer + bytes,
									   GPUSORT_LOAD_CHUNK_BYTES - bytes, &moved);
	source->bytes += moved;
	return bytes + moved;
}

/* ---------- files and programs ---------- */

/*
 * A program or client that sends nothing for so long is slow; then what has come so far is
 * returned.
 */
#define SLOW_MS		1000

/*
 * Waits until a program has written something, which may take any time; notices if a worker is lost
 * meanwhile.  Returns false if the program is slow, and "got" says that some bytes are there
 * already.
 */
static bool
await_program(int file, Size got)
{
	struct pollfd waited = {.fd = file,.events = POLLIN};

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (poll(&waited, 1, SLOW_MS) > 0)
			return true;
		if (got > 0)
			return false;
		gpusort_worker_look();
	}
}

/*
 * Reads from the file, or the program.  The stream has nothing in its buffer, so the file
 * descriptor is at the right position.
 */
static void
read_file(GpuSortLoadSource *source, char *buffer, Size bytes)
{
	int			file = fileno(source->copy->copy_file);

	while (source->got < bytes)
	{
		ssize_t		count;

		if (source->copy->is_program && !await_program(file, source->got))
			break;
		count = read(file, buffer + source->got, bytes - source->got);
		if (count < 0 && errno == EINTR)
			continue;
		source->at_end = count == 0;
		source->failed = count < 0;
		if (count <= 0)
			break;
		source->got += count;
	}
}

/* ---------- the client ---------- */

/*
 * Reads the next message, and returns its type, or EOF if there is none.  A message that may not
 * come during a COPY is not read: a line before it may be wrong, and then the message is the
 * client's next command.
 */
static int
receive_message(StringInfo message)
{
	int			type;

	HOLD_CANCEL_INTERRUPTS();
	pq_startmsgread();
	type = pq_peekbyte();
	if (type == EOF || memchr("dcfHS", type, 5) == NULL)
		pq_endmsgread();
	else
	{
		(void) pq_getbyte();
		if (pq_getmessage(message, type == 'd' ? MaxAllocSize - 1 : 10000) == EOF)
			type = EOF;
	}
	RESUME_CANCEL_INTERRUPTS();
	return type;
}

/*
 * Takes the next message of the client.  One that ends the COPY by an error is kept until the
 * server comes to it: then the error is about the line that is the next one.
 */
static void
take_message(GpuSortLoadSource *source)
{
	StringInfo	message = source->copy->fe_msgbuf;
	int			type = receive_message(message);

	if (type == 'd')
		return;
	if (type == 'c')
		source->at_end = true;
	else if (type != 'H' && type != 'S')
	{
		source->failed = true;
		source->stray = type;
		if (type == 'f')
			source->failure = pstrdup(pq_getmsgstring(message));
	}
	message->cursor = message->len;
}

static void
read_client(GpuSortLoadSource *source, char *buffer, Size bytes)
{
	StringInfo	message = source->copy->fe_msgbuf;
	instr_time	begin;

	INSTR_TIME_SET_CURRENT(begin);
	while (source->got < bytes && !source->at_end && !source->failed)
	{
		Size		count = Min(bytes - source->got, message->len - message->cursor);

		CHECK_FOR_INTERRUPTS();
		if (count == 0 && source->got > 0 &&
			INSTR_TIME_GET_MILLISEC(gpusort_elapsed(begin)) > SLOW_MS)
			break;
		if (count == 0)
		{
			take_message(source);
			continue;
		}
		memcpy(buffer + source->got, message->data + message->cursor, count);
		message->cursor += count;
		source->got += count;
	}
}

/*
 * Reads until there are "bytes" bytes, or there are no more to be had for now; returns how many
 * there are.
 */
static Size
gpusort_source_read(GpuSortLoadSource *source, char *buffer, Size bytes)
{
	if (source->at_end || source->failed)
		return 0;
	source->reading = buffer;
	source->got = 0;
	if (source->copy->copy_src == COPY_FRONTEND)
		read_client(source, buffer, bytes);
	else
		read_file(source, buffer, bytes);
	source->reading = NULL;
	source->bytes += source->got;
	return source->got;
}

uint64
gpusort_source_expected(const GpuSortLoadSource *source)
{
	struct stat file;

	if (source->copy->copy_src != COPY_FILE || source->copy->is_program || source->at_end ||
		source->failed || fstat(fileno(source->copy->copy_file), &file) != 0 ||
		!S_ISREG(file.st_mode) || file.st_size <= source->bytes)
		return 0;
	return file.st_size - source->bytes;
}

/* ---------- giving it back ---------- */

/* The bytes that PostgreSQL's COPY has to read before the source. */
typedef struct Leftover
{
	GpuSortLoadSource *source;
	CopySource	kind;
	const char *data;
	Size		bytes;			/* so many may be read for now */
	Size		offset;			/* of what has not been read */
	Size		all;			/* so many are there */
	Size		marker_end;		/* so many are there up to the end of an end marker, or 0 */
} Leftover;

/*
 * The leftover that is being read; the callback has no argument.  It changes when a function called
 * by COPY runs another COPY.
 */
static Leftover *current;

/* Returns the kind of newline that a byte of the text format, which is not escaped, begins. */
static EolType
newline_at(const char *data, Size at, Size bytes)
{
	if (data[at] == '\n')
		return EOL_NL;
	if (data[at] != '\r')
		return EOL_UNKNOWN;
	return at + 1 < bytes && data[at + 1] == '\n' ? EOL_CRNL : EOL_CR;
}

/* Returns whether a marker with this newline behind it is the end of the input to the server. */
static bool
ends_input(EolType found, EolType usual)
{
	return usual == EOL_UNKNOWN || found == usual || (usual == EOL_CR && found == EOL_CRNL);
}

/*
 * Returns how many bytes of the text format there are up to the end of the first line that ends
 * with an end marker, or 0 if there is no marker.  Up to PostgreSQL 17 a marker may stand behind
 * fields of a row.  The row is loaded, and what the client sends behind the line is ignored; but
 * the server ignores only what it reads from the client by itself, and would go on with the rest of
 * a leftover.  The server reads the client to its end when it sees the marker's point, and looks at
 * the row after that: "*before" is how many bytes there are up to the point if that matters.
 */
static Size
bytes_until_marker(CopyFromState copy, const char *data, Size bytes, Size *before)
{
	bool		embeds_ascii = copy->need_transcoding &&
		PG_ENCODING_IS_CLIENT_ONLY(copy->file_encoding);
	EolType		eol_type = copy->eol_type;
	Size		at = 0;

	while (at + 2 < bytes)
	{
		if (embeds_ascii && IS_HIGHBIT_SET(data[at]))
			at += Max(pg_encoding_mblen(copy->file_encoding, data + at), 1);
		else if (data[at] != '\\')
		{
			if (eol_type == EOL_UNKNOWN)
				eol_type = newline_at(data, at, bytes);
			at++;
		}
		else if (data[at + 1] == '.' && newline_at(data, at + 2, bytes) != EOL_UNKNOWN)
		{
			Size		end = at + (eol_type == EOL_CRNL ? 4 : 3);

			*before = end;
			if (gpusort_copy_csv_has_end_marker() &&
				ends_input(newline_at(data, at + 2, bytes), eol_type))
				*before = at + 1;
			/* if a part of the newline is still to come, the server reads the client by then */
			return end <= bytes ? end : 0;
		}
		else
			at += IS_HIGHBIT_SET(data[at + 1]) ? 1 : 2;
	}
	return 0;
}

/*
 * All bytes have been read: lets the COPY read the source by itself, unless its client has given
 * up, or has sent an end marker.  If the source is at its end, the server is told so when it asks
 * for more, which it does unless there was an end marker.  So its raw_reached_eof is what it would
 * be without us, and EndCopyFrom() forgives a program that dies by SIGPIPE in the same cases.
 */
static void
end_leftover(Leftover *leftover)
{
	const GpuSortLoadSource *source = leftover->source;

	if (!source->at_end && source->stray == 0 && leftover->marker_end == 0)
		source->copy->copy_src = leftover->kind;
}

/*
 * Raises the error that the server would raise for the client's message.  If the server would do so
 * while it reads a message, so does this: then the connection ends, too.
 */
static void
fail_as_client_did(const GpuSortLoadSource *source)
{
	if (source->stray == 0)
		return;
	if (source->failure != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("COPY from stdin failed: %s", source->failure)));
	if (!pq_is_reading_msg())
		pq_startmsgread();
	if (source->stray == EOF)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("unexpected EOF on client connection with an open transaction")));
	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("unexpected message type 0x%02X during COPY from stdin", source->stray)));
}

/* Reads, and ignores, what the client sends behind an end marker. */
static void
ignore_rest(GpuSortLoadSource *source)
{
	char		ignored[8192];

	while (!source->at_end && !source->failed)
	{
		source->got = 0;
		read_client(source, ignored, sizeof(ignored));
	}
	fail_as_client_did(source);
}

/* Returns whether the server has bytes that are no character, unless others follow. */
static bool
has_broken_bytes(CopyFromState copy)
{
	return copy->raw_buf == copy->input_buf ? copy->raw_buf_len > copy->input_buf_len
		: RAW_BUF_BYTES(copy) > 0;
}

/*
 * The server asks for more of a leftover that has an end marker.  If it has bytes that are no
 * character, these are before the marker, and it looks at what follows until it can say so.
 */
static void
pass_marker(Leftover *leftover)
{
	if (has_broken_bytes(leftover->source->copy))
	{
		leftover->bytes = leftover->all;
		leftover->marker_end = 0;
	}
	else if (leftover->bytes < leftover->marker_end)
	{
		ignore_rest(leftover->source);
		leftover->bytes = leftover->marker_end;
	}
}

static int
read_leftover(void *buffer, int least, int most)
{
	Leftover   *leftover = current;
	int			count;

	if (leftover->offset == leftover->bytes && leftover->marker_end > 0)
		pass_marker(leftover);
	count = Min(most, leftover->bytes - leftover->offset);
	if (count == 0)
	{
		fail_as_client_did(leftover->source);
		return 0;
	}
	memcpy(buffer, leftover->data + leftover->offset, count);
	leftover->offset += count;
	if (leftover->offset == leftover->bytes)
		end_leftover(leftover);
	return count;
}

/*
 * Makes the COPY read the leftover.  If there is nothing, and the source goes on, PostgreSQL can
 * read the source as it is.
 */
static void
prepare_leftover(Leftover *leftover)
{
	GpuSortLoadSource *source = leftover->source;
	CopyFromState copy = source->copy;
	Size		before;

	if (leftover->kind == COPY_FRONTEND && !gpusort_copy_format_is_csv(&copy->opts) &&
		!gpusort_copy_format_is_binary(&copy->opts))
		leftover->marker_end = bytes_until_marker(copy, leftover->data, leftover->all, &before);
	if (leftover->marker_end > 0)
		leftover->bytes = before;
	if (leftover->bytes > 0 || source->at_end || source->stray != 0)
	{
		copy->copy_src = COPY_CALLBACK;
		copy->data_source_cb = read_leftover;
	}
}

/* The same as ignore_rest(), when CopyFrom() has ended. */
static void
drain_client(GpuSortLoadSource *source)
{
	CopyFromState copy = source->copy;
	ErrorContextCallback context = {error_context_stack, CopyFromErrorCallback, copy};

	copy->line_buf_valid = false;
	copy->cur_attname = NULL;
	error_context_stack = &context;
	ignore_rest(source);
	error_context_stack = context.previous;
}

uint64
gpusort_source_give_back(GpuSortLoadSource *source, const char *data, Size bytes)
{
	Leftover	leftover = {
		.source = source,.kind = source->copy->copy_src,.data = data,.bytes = bytes,.all = bytes
	};
	Leftover   *outer = current;
	volatile uint64 rows = 0;

	prepare_leftover(&leftover);
	current = &leftover;
	PG_TRY();
	{
		rows = CopyFrom(source->copy);
		if (leftover.kind == COPY_FRONTEND && source->copy->copy_src == COPY_CALLBACK)
			drain_client(source);
	}
	PG_FINALLY();
	{
		current = outer;
	}
	PG_END_TRY();
	return rows;
}

/* ---------- the input of a COPY that is carried out ---------- */

/*
 * If a COPY is ended while it waits for more of its input, the error is about the line behind all
 * that has come, because PostgreSQL has loaded all lines by the time it waits.  Here some of the
 * lines may still wait to be loaded, so they are counted when there is an error.
 */

/*
 * An error context callback, which sets the line before the callback of COPY shows it.  What is
 * being read stands behind what has not been loaded, or cut, before.
 */
static void
find_line(void *arg)
{
	const GpuSortLoadState *state = arg;
	const GpuSortLoadSource *source = &state->source;
	const gs_dialect *dialect = &state->task->dialect;
	Size		left = state->bytes - state->begin;
	uint64		lines = state->counts.lines;

	if (state->share != NULL)
		lines += gpusort_share_lines(state->share, dialect);
	lines += gs_lines_count(dialect, source->reading - left, left + source->got);
	state->copy->cur_lineno = lines + 1;
}

Size
gpusort_load_read(GpuSortLoadState *state, char *to, Size bytes)
{
	ErrorContextCallback context = {error_context_stack, find_line, state};
	Size		got;

	error_context_stack = &context;
	got = gpusort_source_read(&state->source, to, bytes);
	error_context_stack = context.previous;
	return got;
}
