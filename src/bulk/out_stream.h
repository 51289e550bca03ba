/*
 * out_stream.h
 *		Rows into bytes, and these to where they go, by one process.
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
	StringInfoData buffer;		/* what was not written yet: whole rows */
	int			buffer_bytes;	/* so much is written */
	uint64		buffer_rows;
	uint64		buffer_messages;
} GpuSortOutStream;

/* In the current memory context. */
extern void gpusort_out_begin_stream(GpuSortOutStream *stream, const GpuSortOutFormat *format,
									 const GpuSortOutColumn *columns, GpuSortOutTarget *target);

extern void gpusort_out_stream_row(GpuSortOutStream *stream, TupleTableSlot *slot);

/* The same, but don't write it yet, however many there are. */
extern void gpusort_out_hold_row(GpuSortOutStream *stream, TupleTableSlot *slot);

/* Rows that others have made bytes of: written before those that were not yet. */
extern void gpusort_out_write_rows(GpuSortOutStream *stream, const char *data, Size length,
								   uint64 rows);

/* Forget what was not written yet. */
extern void gpusort_out_drop_rows(GpuSortOutStream *stream);

/* A line, or a message, with the names of the columns. */
extern void gpusort_out_stream_header(GpuSortOutStream *stream, TupleDesc desc);

/* Some bytes that are no row; a message of their own. */
extern void gpusort_out_stream_bytes(GpuSortOutStream *stream, const char *data, int length);

/* Write what was not written yet. */
extern void gpusort_out_flush_stream(GpuSortOutStream *stream);

#endif							/* GPUSORT_OUT_STREAM_H */
