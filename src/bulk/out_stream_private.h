/*
 * out_stream_private.h
 *		Rows into bytes, and these to where they go, by one process or several.
 */
#ifndef GPUSORT_OUT_STREAM_PRIVATE_H
#define GPUSORT_OUT_STREAM_PRIVATE_H

#include "postgres.h"

#include <stdio.h>

#include "executor/execdesc.h"
#include "port/atomics.h"

#include "bulk/out_row_private.h"
#include "sort/sort_slices.h"

/* ---------- the target: a file, a program or the client ---------- */

/*
 * The rows come in large pieces, each of whole rows.  A piece for the client consists of whole
 * messages of the protocol, and is written directly to the connection, without being copied to the
 * server's buffer for messages.
 */

typedef struct GpuSortOutTarget
{
	/* the file, or the pipe to a program; NULL if rows go to the client */
	FILE	   *file;
	const char *program;		/* the program's command line, or NULL */
	const char *filename;
	bool		copy;			/* the rows are a COPY's, whose progress is reported */
	/*
	 * bytes to put in front of the first row, in its message; NULL if there are none, or they were
	 * written
	 */
	const char *prefix;
	int			prefix_length;
	uint64		rows;			/* rows that were written */
	uint64		bytes;			/* bytes that were written, without those of the protocol */
} GpuSortOutTarget;

/* Open a file for a COPY, or start a program. */
extern void gpusort_out_open_file(GpuSortOutTarget *target, const char *filename);
extern void gpusort_out_open_program(GpuSortOutTarget *target, const char *command);

/* Returns whether rows can be written directly to the client's connection. */
extern bool gpusort_out_client_is_there(void);

/* Write some rows.  `bytes` is the number of bytes in `data` without those of the protocol. */
extern void gpusort_out_write(GpuSortOutTarget *target, const char *data, Size length,
							  uint64 rows, uint64 bytes);

/* Close the file, or end the program, and raise an error if that fails. */
extern void gpusort_out_close(GpuSortOutTarget *target);

/* ---------- a stream, which formats rows and writes them to their target ---------- */

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

/* ---------- writing rows together with parallel workers ---------- */

/*
 * The leader and the workers format slices of the rows, and the leader writes all slices to the
 * stream in order.  At any time no more formatted rows are in memory than the workers' queues and
 * one slice of the leader hold: if the file, program or client is slow, the workers wait.
 */

/*
 * Write to the stream all rows of a table, or of a query whose first row the executor has just
 * returned.  Returns false, with nothing written, if the rows are not for workers, or no worker
 * could be started.  If a query's rows were written, the caller ends it.
 */
extern bool gpusort_out_write_table(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									Relation table);
extern bool gpusort_out_write_query(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									QueryDesc *query);

/* Prepare a query for gpusort_out_write_query(); called before it is run. */
extern void gpusort_out_expect_query(QueryDesc *query);

/* ---------- whether workers may write rows ---------- */

/*
 * Returns whether workers would write the same bytes as the leader, and all functions called for
 * that are parallel safe.
 */
extern bool gpusort_out_is_parallel_safe(const GpuSortOutFormat *format,
										 const GpuSortOutColumn *columns);

/* ---------- what the processes that write rows together have in common ---------- */

/*
 * The leader starts the workers by the name of their function, which is in out_worker.c.
 */

#define GPUSORT_OUT_WORKER			"gpusort_out_worker"

/* Chunks of the shared memory. */
enum
{
	GPUSORT_OUT_MEMBER_TASK,
	GPUSORT_OUT_MEMBER_COLUMNS,
	GPUSORT_OUT_MEMBER_QUEUES,
	GPUSORT_OUT_MEMBER_DESC,
	GPUSORT_OUT_MEMBER_VIEW,
	GPUSORT_OUT_MEMBERS
};

/*
 * Size of a worker's queue.  So far a worker may be ahead of the leader, while the leader is busy
 * with slices of other workers.
 */
#define GPUSORT_OUT_QUEUE_BYTES		(1024 * 1024)

/*
 * A worker sends a piece of rows to the leader when the rows have so many bytes, which fit into a
 * core's cache.
 */
#define GPUSORT_OUT_PIECE_BYTES		(64 * 1024)

typedef struct GpuSortOutTask
{
	GpuSortSlices slices;
	GpuSortOutFormat format;
	pg_atomic_uint64 next_slice;	/* first slice that no process has taken */
	/* not 0 when all rows are written, and workers that have failed may raise their errors */
	pg_atomic_uint32 written;
} GpuSortOutTask;

/* The header of a piece, which is some rows of a slice.  The rows' bytes follow. */
typedef struct GpuSortOutPiece
{
	uint64		slice;
	uint32		rows;
	bool		last;			/* this is the slice's last piece */
	bool		left;			/* the rest of the slice is left to the leader */
} GpuSortOutPiece;

/* Take the next slice.  Returns false if there is none left. */
static inline bool
gpusort_out_take_slice(GpuSortOutTask *task, uint64 *slice)
{
	*slice = pg_atomic_fetch_add_u64(&task->next_slice, 1);
	return *slice < gpusort_sort_slice_count(&task->slices);
}

#endif							/* GPUSORT_OUT_STREAM_PRIVATE_H */
