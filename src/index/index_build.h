/*
 * index_build.h
 *		Building btree indexes: hooks in, and what the files of a build share.
 *
 * index_hook.c gets builds sent here, index_build.c decides and conducts,
 * index_collect.c reads the table, index_unique.c judges duplicates,
 * index_writer.c makes the pages.
 */
#ifndef GPUSORT_INDEX_BUILD_H
#define GPUSORT_INDEX_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

#include "sort/sort.h"

typedef struct GpuSortIndexQueues GpuSortIndexQueues;
typedef struct GpuSortParallelLeader GpuSortParallelLeader;
typedef struct GpuSortIndexSlices GpuSortIndexSlices;

/* One build, from the table to the sorted tuples. */
typedef struct GpuSortIndexBuild
{
	Relation	heap;
	Relation	index;
	IndexInfo  *info;
	GpuSort    *sort;
	GpuSort    *part;			/* of a shared sort: what this process collects */
	bool		part_full;		/* rows go into `sort`, of a worker to the leader */
	bool		failed;			/* some row could not be taken in */
	int			workers;		/* that read the table, too */
	BlockNumber pages_read;		/* by this process, where it reads page by page */
	GpuSortIndexQueues *queues; /* while they do: of rows between processes */
	GpuSortParallelLeader *parallel;	/* while there are workers */
	GpuSortIndexSlices *slices;	/* of the index, if workers can write them */
	uint32		slices_written;	/* 0: the leader has written all alone */
} GpuSortIndexBuild;

/* What became of the index builds that this session was asked for. */
typedef struct GpuSortIndexCounters
{
	int64		built;
	int64		given_up;		/* begun, and then left to PostgreSQL */
	int64		left;			/* to PostgreSQL, from the start */
	int64		workers;		/* that took part in what was begun */
	int64		slices;			/* of indexes that several processes have written */
} GpuSortIndexCounters;

extern GpuSortIndexCounters gpusort_index_counters;

extern void gpusort_install_index_hooks(void);

/* The ambuild of btree indexes: ours or, where that is not for us, btbuild(). */
extern IndexBuildResult *gpusort_build_index(Relation heap, Relation index,
											 IndexInfo *info);

/*
 * Read the table into build->sort.  Returns the number of live table rows, as
 * table_index_build_scan() does.
 */
extern double gpusort_index_collect(GpuSortIndexBuild *build);

/* The sort key of an index; false if an operator class has no ordering for us. */
extern bool gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

/*
 * ERROR if two live rows of the performed sort violate the index's uniqueness.  The
 * progress is planned as rows.
 */
extern void gpusort_index_check_unique(const GpuSortIndexBuild *build, gs_progress *progress);

#endif							/* GPUSORT_INDEX_BUILD_H */
