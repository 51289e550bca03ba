/*
 * index_shared.h
 *		Lays out the shared memory of an index build by several processes.
 */
#ifndef GPUSORT_INDEX_SHARED_H
#define GPUSORT_INDEX_SHARED_H

#include "index/index_blocks.h"
#include "index/index_reports.h"
#include "index/index_slices.h"
#include "index/index_stage.h"
#include "sort/sort_team.h"

/* What is to be built, and how.  Does not change once the workers are launched. */
typedef struct GpuSortSharedTask
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		unique;
	/* the table is read page by page, not by the server's parallel scan */
	bool		by_pages;
	bool		has_parts;
	uint32		parts;			/* number of the shared sort, if has_parts */
} GpuSortSharedTask;

typedef struct GpuSortSharedBuild
{
	GpuSortSharedTask task;

	/* for reading the table */
	GpuSortSharedBlocks blocks;
	GpuSortSharedReports reports;

	/* for writing the index, if workers can write */
	GpuSortSharedStage stage;
	GpuSortSharedSlices slices;
} GpuSortSharedBuild;

/* Addresses of the parts of the shared memory in this process. */
typedef struct GpuSortSharedMemory
{
	GpuSortSharedBuild *build;
	ParallelTableScanDesc scan; /* NULL if the table is read page by page */
	char	   *row_queues;
	char	   *note_queues;	/* NULL if there is no pool, and so workers can't write */
	GpuSortSharedView *view;	/* NULL if note_queues is */
	GpuSortTeam *team;			/* workers that have read their share, and help to sort */
} GpuSortSharedMemory;

/*
 * Create the shared memory for the context's workers, with scan_bytes for the server's parallel
 * scan, but fill nothing in.  Called by the leader.  Returns false if there is none to be had.
 */
extern bool gpusort_shared_create(GpuSortSharedMemory *memory, ParallelContext *context,
								  Size scan_bytes);

/* Find the parts of the shared memory in a worker. */
extern void gpusort_shared_find(GpuSortSharedMemory *memory, shm_toc *toc);

#endif							/* GPUSORT_INDEX_SHARED_H */
