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
	uint64		next;			/* offset in the file of the next bytes to be read */
	uint64		end;
	char	   *buffer;			/* tuples, or the beginning of one */
	size_t		size;
	size_t		at;
	size_t		filled;
} GpuSortRunReader;

/*
 * Initializes a reader in the current memory context.  It can read any number of stretches, one
 * after the other.
 */
extern void gpusort_run_reader_init(GpuSortRunReader *reader);

/* Begins to read a run from one place to another. */
extern void gpusort_run_reader_begin(GpuSortRunReader *reader, const GpuSortRun *run,
									 GpuSortRunPlace from, GpuSortRunPlace to);

/*
 * Returns the next tuple, which is MAXALIGNed and valid until the next call; or NULL if there is
 * none.
 */
extern void *gpusort_run_reader_next(GpuSortRunReader *reader);

extern void gpusort_run_reader_free(GpuSortRunReader *reader);

#endif							/* GPUSORT_RUN_READER_H */
