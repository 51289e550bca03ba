/*
 * out_stream.c
 *		Formats rows as bytes and writes them to their target, by one process; see out_stream.h.
 */
#include "postgres.h"

#include "bulk/out_stream.h"

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
