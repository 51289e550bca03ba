/*
 * index_stage.c
 *		Tells the workers of an index build what to do; see index_write_private.h.
 */
#include "postgres.h"

#include "utils/rel.h"
#include "utils/wait_event.h"

#include "index/index_write_private.h"
#include "pg_compat.h"
#include "team/worker_wait.h"

/* Wait event of a worker that waits for the next stage; 0 until it is first used. */
static uint32 wait_event = 0;

void
gpusort_stage_init(GpuSortSharedStage *shared)
{
	ConditionVariableInit(&shared->changed);
	pg_atomic_init_u32(&shared->stage, GPUSORT_STAGE_WAIT);
}

/* The view is published once, since the sort's memory does not change any more. */
bool
gpusort_stage_publish(GpuSortStageControl *control)
{
	if (!control->published)
		control->published = gpusort_publish_view(control->sort, control->view);
	return control->published;
}

void
gpusort_stage_set(GpuSortStageControl *control, GpuSortStage stage)
{
	/* a worker that sees the stage must also see what the leader wrote before setting it */
	pg_memory_barrier();
	pg_atomic_write_u32(&control->shared->stage, stage);
	ConditionVariableBroadcast(&control->shared->changed);
	gpusort_team_dismiss(control->team);
	gpusort_use_team(control->sort, NULL, 0);
}

void
gpusort_stage_end(GpuSortStageControl *control)
{
	if (pg_atomic_read_u32(&control->shared->stage) < GPUSORT_STAGE_WRITE)
		gpusort_stage_set(control, GPUSORT_STAGE_END);
}

void
gpusort_stage_fail(GpuSortStageControl *control)
{
	gpusort_stage_end(control);
	gpusort_worker_await_end(control->context);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("parallel workers have left index \"%s\" undone", RelationGetRelationName(control->index))));
}

GpuSortStage
gpusort_stage_await(GpuSortSharedStage *shared)
{
	GpuSortStage stage;

	ConditionVariablePrepareToSleep(&shared->changed);
	while ((stage = pg_atomic_read_u32(&shared->stage)) == GPUSORT_STAGE_WAIT)
		gpusort_worker_await(&shared->changed, gpusort_wait_event(&wait_event, "GpuSortIndexStage"));
	ConditionVariableCancelSleep();
	pg_memory_barrier();
	return stage;
}
