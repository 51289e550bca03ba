/*
 * out_target.h
 *		Where formatted rows go: a file, a program, the client.
 *
 * They come in large pieces, each of whole rows.  A piece for the client consists of whole messages
 * of the protocol, and is written to the connection as it is, past the server's buffer for messages.
 */
#ifndef GPUSORT_OUT_TARGET_H
#define GPUSORT_OUT_TARGET_H

#include "postgres.h"

#include <stdio.h>

typedef struct GpuSortOutTarget
{
	FILE	   *file;			/* or the pipe to a program; NULL: the client */
	const char *program;		/* its command line, or NULL */
	const char *filename;
	bool		copy;			/* of a COPY: that it goes on is reported */
	const char *prefix;			/* what the first row's message begins with, or NULL */
	int			prefix_length;
	uint64		rows;			/* that were written */
	uint64		bytes;			/* ... of these, without the protocol's */
} GpuSortOutTarget;

/* Open a file for a COPY, or start a program. */
extern void gpusort_out_open_file(GpuSortOutTarget *target, const char *filename);
extern void gpusort_out_open_program(GpuSortOutTarget *target, const char *command);

/* Can rows be sent to the client so? */
extern bool gpusort_out_client_is_there(void);

/* Write some rows; bytes counts those that are not the protocol's. */
extern void gpusort_out_write(GpuSortOutTarget *target, const char *data, Size length,
							  uint64 rows, uint64 bytes);

/* Close file or program, and report what there is to report. */
extern void gpusort_out_close(GpuSortOutTarget *target);

#endif							/* GPUSORT_OUT_TARGET_H */
