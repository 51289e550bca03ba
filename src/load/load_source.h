/*
 * load_source.h
 *		Where the bytes of a COPY FROM come from: a file, a program, or the client.
 *
 * PostgreSQL has opened it.  It can be given back at any time, and goes on where reading has ended.
 */
#ifndef GPUSORT_LOAD_SOURCE_H
#define GPUSORT_LOAD_SOURCE_H

#include "commands/copy.h"

typedef struct GpuSortLoadSource
{
	CopyFromState copy;
	bool		at_end;			/* no bytes are left */
	bool		failed;			/* reading goes on to fail: PostgreSQL's code should meet it */
	int			stray;			/* the client's message that it fails by, or EOF; 0: none */
	const char *failure;		/* what the client has said about that, or NULL */
	uint64		bytes;			/* read */
	const char *reading;		/* while it is being read, where to */
	Size		got;			/* ... so many bytes */
} GpuSortLoadSource;

extern void gpusort_source_begin(GpuSortLoadSource *source, CopyFromState copy);

/*
 * Read until there are so many bytes, or no more to be had for now; returns how many.
 */
extern Size gpusort_source_read(GpuSortLoadSource *source, char *buffer, Size bytes);

/* How many bytes are still to be read; 0 if that is not known. */
extern uint64 gpusort_source_expected(const GpuSortLoadSource *source);

/*
 * Let PostgreSQL's COPY read these pieces first, and then what is left of the source; returns the rows.
 * "lines" were counted before them.
 */
typedef struct GpuSortLoadPiece
{
	const char *data;
	Size		bytes;
} GpuSortLoadPiece;

extern uint64 gpusort_source_give_back(GpuSortLoadSource *source, const GpuSortLoadPiece *pieces, int count);

#endif							/* GPUSORT_LOAD_SOURCE_H */
