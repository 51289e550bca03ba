/*
 * out_target.h
 *		Writes formatted rows to a file, a program or the client.
 *
 * The rows come in large pieces, each of whole rows.  A piece for the client consists of whole
 * messages of the protocol, and is written directly to the connection, without being copied to the
 * server's buffer for messages.
 */
#ifndef GPUSORT_OUT_TARGET_H
#define GPUSORT_OUT_TARGET_H

#include "postgres.h"

#include <stdio.h>

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

#endif							/* GPUSORT_OUT_TARGET_H */
