/*
 * index_stage.h
 *		What the leader of an index build tells its workers to do.
 *
 * Workers that have read their share of the table help the leader to sort, until it says
 * what is next.  What that takes, they read from a view of the sort.
 */
#ifndef GPUSORT_INDEX_STAGE_H
#define GPUSORT_INDEX_STAGE_H

#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "utils/relcache.h"

#include "sort/sort_team.h"
#include "sort/sort_view.h"

typedef enum GpuSortStage
{
	GPUSORT_STAGE_WAIT,			/* the leader reads the table, and sorts and verifies with the team */
	GPUSORT_STAGE_WRITE,
	GPUSORT_STAGE_END			/* nothing to write for workers */
} GpuSortStage;

/* In shared memory. */
typedef struct GpuSortSharedStage
{
	ConditionVariable changed;
	pg_atomic_uint32 stage;
} GpuSortSharedStage;

/* The leader's end of it. */
typedef struct GpuSortStageControl
{
	GpuSortSharedStage *shared;
	ParallelContext *context;	/* of the workers */
	Relation	index;
	GpuSort    *sort;
	GpuSortSharedView *view;	/* of the sort, if it is published */
	GpuSortTeam *team;			/* workers who wait until it is sorted */
	bool		published;
} GpuSortStageControl;

extern void gpusort_stage_init(GpuSortSharedStage *shared);

/* By the leader: let workers see the sort; false if some of its memory is private. */
extern bool gpusort_stage_publish(GpuSortStageControl *control);

/* By the leader.  Workers have something else to do from now on than to help to sort. */
extern void gpusort_stage_set(GpuSortStageControl *control, GpuSortStage stage);

/* By the leader: let workers go that still wait for something to write. */
extern void gpusort_stage_end(GpuSortStageControl *control);

/*
 * By the leader, if a worker has ended before its part was done: ERROR, the worker's own, or that it was lost.
 */
extern void gpusort_stage_fail(GpuSortStageControl *control) __attribute__((noreturn));

/* By a worker: wait for what comes after the sort. */
extern GpuSortStage gpusort_stage_await(GpuSortSharedStage *shared);

#endif							/* GPUSORT_INDEX_STAGE_H */
