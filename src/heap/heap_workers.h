/*
 * heap_workers.h
 *		Copying a table by parallel workers: reading it, and writing the new one.
 *
 * These are two times, for each of which workers are started.  In between the leader sorts, and those
 * that have read help.
 */
#ifndef GPUSORT_HEAP_WORKERS_H
#define GPUSORT_HEAP_WORKERS_H

#include "heap/heap_copy.h"
#include "sort/sort.h"

/* How many workers are wanted. */
extern int	gpusort_heap_wanted_workers(const GpuSortHeapCopy *copy);

/* What came of them. */
typedef enum GpuSortHeapHelp
{
	GPUSORT_HEAP_NO_WORKERS,	/* nothing has happened: it can be done without them */
	GPUSORT_HEAP_DONE,
	GPUSORT_HEAP_FAILED			/* a version could not be put into a part; the sort can only be ended */
} GpuSortHeapHelp;

/* Those that have read and wait to help, and the leader's parallel mode.  On error the server ends both. */
typedef struct GpuSortHeapReaders GpuSortHeapReaders;

/*
 * Read the table into the sort, which has just begun, by so many workers at most and by the leader.  When it
 * is done *readers are there until gpusort_heap_readers_end().
 */
extern GpuSortHeapHelp gpusort_heap_read_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort,
													  TupleDesc desc, int nworkers,
													  GpuSortHeapReaders **readers,
													  GpuSortHeapFindings *findings);

/* Let them go, and wait until they have ended; returns how many there were. */
extern int	gpusort_heap_readers_end(GpuSortHeapReaders *readers);

/* Write what was sorted; false if nothing was written, since there are no workers or nothing for them. */
extern bool gpusort_heap_write_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort,
											const GpuSortHeapFindings *findings, int nworkers,
											int *launched);

#endif							/* GPUSORT_HEAP_WORKERS_H */
