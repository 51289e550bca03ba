/*
 * out_stream.h
 *		Formats rows as bytes and writes them to their target, by one process.
 */
#ifndef GPUSORT_OUT_STREAM_H
#define GPUSORT_OUT_STREAM_H

#include "bulk/out_format.h"
#include "bulk/out_row.h"
#include "bulk/out_target.h"

typedef struct GpuSortOutStream
{
	GpuSortOutFormat format;
	GpuSortOutRows *rows;
	GpuSortOutTarget *target;
	StringInfoData buffer;		/* whole rows that have not been written yet */
	int			buffer_bytes;	/* the buffer is written when it has so many bytes */
	uint64		buffer_rows;
	uint64		buffer_messages;
} GpuSortOutStream;

/* Begin a stream, in the current memory context. */
extern void gpusort_out_begin_stream(GpuSortOutStream *stream, const GpuSortOutFormat *format,
									 const GpuSortOutColumn *columns, GpuSortOutTarget *target);

/* Append a row to the buffer, and write the buffer if it is full. */
extern void gpusort_out_stream_row(GpuSortOutStream *stream, TupleTableSlot *slot);

/* Append a row to the buffer, but don't write the buffer, however large it is. */
extern void gpusort_out_hold_row(GpuSortOutStream *stream, TupleTableSlot *slot);

/* Write rows that another process has formatted.  They go ahead of those in the buffer. */
extern void gpusort_out_write_rows(GpuSortOutStream *stream, const char *data, Size length,
								   uint64 rows);

/* Forget the rows in the buffer. */
extern void gpusort_out_drop_rows(GpuSortOutStream *stream);

/* Append the names of the columns, as a line or a message. */
extern void gpusort_out_stream_header(GpuSortOutStream *stream, TupleDesc desc);

/* Append some bytes that are no row, as a message of their own if the format wants messages. */
extern void gpusort_out_stream_bytes(GpuSortOutStream *stream, const char *data, int length);

/* Write the buffer. */
extern void gpusort_out_flush_stream(GpuSortOutStream *stream);

#endif							/* GPUSORT_OUT_STREAM_H */
