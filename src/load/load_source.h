/*
 * load_source.h
 *		Where the bytes of a COPY FROM come from: a file, a program, or the client.
 *
 * PostgreSQL has opened the source.  It can be given back to PostgreSQL at any time, which goes
 * on where reading has ended here.
 */
#ifndef GPUSORT_LOAD_SOURCE_H
#define GPUSORT_LOAD_SOURCE_H

#include "commands/copy.h"

typedef struct GpuSortLoadSource
{
	CopyFromState copy;
	bool		at_end;			/* no bytes are left */
	bool		failed;			/* the next read fails, which is left to PostgreSQL's code */
	int			stray;			/* the message by which the client fails it, or EOF; 0: none */
	const char *failure;		/* what the client says in that message, or NULL */
	uint64		bytes;			/* how many were read */
	const char *reading;		/* while the source is being read: where the bytes go */
	Size		got;			/* bytes that are there already */
} GpuSortLoadSource;

extern void gpusort_source_begin(GpuSortLoadSource *source, CopyFromState copy);

/*
 * Reads until there are "bytes" bytes, or there are no more to be had for now; returns how many
 * there are.
 */
extern Size gpusort_source_read(GpuSortLoadSource *source, char *buffer, Size bytes);

/* Returns how many bytes are still to be read, or 0 if that is not known. */
extern uint64 gpusort_source_expected(const GpuSortLoadSource *source);

/*
 * Lets PostgreSQL's COPY read these bytes first, which were read but not loaded, and then what is
 * left of the source; returns how many rows it has put into the table.
 */
extern uint64 gpusort_source_give_back(GpuSortLoadSource *source, const char *data, Size bytes);

#endif							/* GPUSORT_LOAD_SOURCE_H */
