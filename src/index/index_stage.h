/*
 * index_stage.h
 *		Tells the workers of an index build what to do.
 *
 * Workers that have read their share of the table help the leader to sort, until the leader sets
 * the next stage.  They read the sorted rows through a view of the sort.
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
	/* the leader reads the table, then sorts and verifies with its team */
	GPUSORT_STAGE_WAIT,
	GPUSORT_STAGE_WRITE,
	GPUSORT_STAGE_END			/* there is nothing for workers to write */
} GpuSortStage;

/* The current stage, in shared memory. */
typedef struct GpuSortSharedStage
{
	ConditionVariable changed;
	pg_atomic_uint32 stage;
} GpuSortSharedStage;

/* What the leader needs to set the stage. */
typedef struct GpuSortStageControl
{
	GpuSortSharedStage *shared;
	ParallelContext *context;	/* the workers' context */
	Relation	index;
	GpuSort    *sort;
	GpuSortSharedView *view;	/* view of the sort, filled in if it is published */
	GpuSortTeam *team;			/* workers that help to sort, and wait until that is done */
	bool		published;
} GpuSortStageControl;

extern void gpusort_stage_init(GpuSortSharedStage *shared);

/*
 * Publish the sort's view, so that workers can map it; called by the leader.  Returns false if some
 * of the sort's memory is private.
 */
extern bool gpusort_stage_publish(GpuSortStageControl *control);

/* Set the stage; called by the leader.  From then on its workers no longer help to sort. */
extern void gpusort_stage_set(GpuSortStageControl *control, GpuSortStage stage);

/* Let workers end that still wait for something to write; called by the leader. */
extern void gpusort_stage_end(GpuSortStageControl *control);

/*
 * Report that a worker has ended before its part of the work was done; called by the leader.
 * Raises the worker's own error if it has sent one, else an error that says that the index was left
 * undone.
 */
extern void gpusort_stage_fail(GpuSortStageControl *control) __attribute__((noreturn));

/* Wait in a worker for what comes after the sort, and return that stage. */
extern GpuSortStage gpusort_stage_await(GpuSortSharedStage *shared);

#endif							/* GPUSORT_INDEX_STAGE_H */
