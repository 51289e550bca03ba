/*
 * run_reader.h
 *		Reading a stretch of a run, one tuple after the other.
 *
 * Public: sort includes it.
 */
#ifndef GPUSORT_RUN_READER_H
#define GPUSORT_RUN_READER_H

#include "runs/run_file.h"

typedef struct GpuSortRunReader
{
	MemoryContext context;
	GpuSortRunFile *file;
	uint64		next;			/* offset in the file of what is read next */
	uint64		end;
	char	   *buffer;			/* tuples, or the beginning of one */
	size_t		size;
	size_t		at;
	size_t		filled;
} GpuSortRunReader;

/* In the current context, for any number of stretches. */
extern void gpusort_run_reader_init(GpuSortRunReader *reader);

/* From one place of a run to another. */
extern void gpusort_run_reader_begin(GpuSortRunReader *reader, const GpuSortRun *run,
									 GpuSortRunPlace from, GpuSortRunPlace to);

/* The next tuple, MAXALIGNed, valid until the next call; NULL: there is none. */
extern void *gpusort_run_reader_next(GpuSortRunReader *reader);

extern void gpusort_run_reader_free(GpuSortRunReader *reader);

#endif							/* GPUSORT_RUN_READER_H */
