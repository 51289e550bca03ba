/*
 * heap_workers.h
 *		Copies a table with parallel workers: reading the old table, and writing the new one.
 *
 * Workers are started twice, first to read and then to write.  In between the leader sorts, with
 * the help of those that have read.
 */
#ifndef GPUSORT_HEAP_WORKERS_H
#define GPUSORT_HEAP_WORKERS_H

#include "heap/heap_copy.h"
#include "sort/sort.h"

/* Returns how many workers are wanted for a copy. */
extern int	gpusort_heap_wanted_workers(const GpuSortHeapCopy *copy);

/* What came of an attempt to read with workers. */
typedef enum GpuSortHeapHelp
{
	GPUSORT_HEAP_NO_WORKERS,	/* nothing has happened, so the leader can read alone */
	GPUSORT_HEAP_DONE,
	GPUSORT_HEAP_FAILED			/* a version found no room in a part; the sort is unusable */
} GpuSortHeapHelp;

/*
 * Workers that have read and wait to help sort, and the leader's parallel mode.  After an error the
 * server ends both.
 */
typedef struct GpuSortHeapReaders GpuSortHeapReaders;

/*
 * Read the table into the sort, which has just begun, by the leader and at most nworkers workers.
 * If the result is GPUSORT_HEAP_DONE, *readers exist until gpusort_heap_readers_end().
 */
extern GpuSortHeapHelp gpusort_heap_read_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort,
													  TupleDesc desc, int nworkers,
													  GpuSortHeapReaders **readers,
													  GpuSortHeapFindings *findings);

/* Dismiss the readers and wait until they have ended.  Returns how many there were. */
extern int	gpusort_heap_readers_end(GpuSortHeapReaders *readers);

/*
 * Write the sorted versions with workers.  Returns false if nothing was written, since no workers
 * could be started or there was nothing for them to do.
 */
extern bool gpusort_heap_write_with_workers(const GpuSortHeapCopy *copy, GpuSort *sort,
											const GpuSortHeapFindings *findings, int nworkers,
											int *launched);

#endif							/* GPUSORT_HEAP_WORKERS_H */
