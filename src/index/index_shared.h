/*
 * index_shared.h
 *		The shared memory of an index build by several processes.
 */
#ifndef GPUSORT_INDEX_SHARED_H
#define GPUSORT_INDEX_SHARED_H

#include "index/index_blocks.h"
#include "index/index_reports.h"
#include "index/index_slices.h"
#include "index/index_stage.h"
#include "sort/sort_team.h"

/* What is to be built, and how; fixed. */
typedef struct GpuSortSharedTask
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		unique;
	bool		by_pages;		/* not by the server's parallel scan */
	bool		has_parts;
	uint32		parts;			/* number of the shared sort */
} GpuSortSharedTask;

typedef struct GpuSortSharedBuild
{
	GpuSortSharedTask task;

	/* reading the table */
	GpuSortSharedBlocks blocks;
	GpuSortSharedReports reports;

	/* what comes after it, if workers can write */
	GpuSortSharedStage stage;
	GpuSortSharedSlices slices;
} GpuSortSharedBuild;

/* Where its parts are, in this process. */
typedef struct GpuSortSharedMemory
{
	GpuSortSharedBuild *build;
	ParallelTableScanDesc scan; /* NULL: the table is read page by page */
	char	   *row_queues;
	char	   *note_queues;	/* NULL: workers can't write, for there is no pool */
	GpuSortSharedView *view;	/* NULL: the same */
	GpuSortTeam *team;			/* workers who have read, and help to sort */
} GpuSortSharedMemory;

/*
 * By the leader: make it for the workers of the context, with scan_bytes for the server's
 * parallel scan.  Nothing is filled in.  False if there is none.
 */
extern bool gpusort_shared_create(GpuSortSharedMemory *memory, ParallelContext *context,
								  Size scan_bytes);

/* By a worker. */
extern void gpusort_shared_find(GpuSortSharedMemory *memory, shm_toc *toc);

#endif							/* GPUSORT_INDEX_SHARED_H */
