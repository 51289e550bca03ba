/*
 * index_shared.c
 *		What leader and workers of an index build tell each other: the leader, what is to be done;
 *		workers, what they have read; see index_shared_private.h and index_write_private.h.
 */
#include "postgres.h"

#include "utils/rel.h"
#include "utils/wait_event.h"

#include "index/index_shared_private.h"
#include "index/index_write_private.h"
#include "pg_compat.h"
#include "team/worker_wait.h"

/* ---------- stages ---------- */

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

/* ---------- reports ---------- */

void
gpusort_reports_init(GpuSortSharedReports *reports)
{
	memset(reports, 0, sizeof(*reports));
	SpinLockInit(&reports->mutex);
}

void
gpusort_reports_add(GpuSortSharedReports *reports, const GpuSortIndexReader *reader, double live)
{
	SpinLockAcquire(&reports->mutex);
	reports->count++;
	reports->live += live;
	reports->sent_bytes += gpusort_exchange_moved_bytes(reader->exchange);
	reports->broken_hot_chain |= reader->target.info->ii_BrokenHotChain;
	reports->failed |= reader->rows.failed;
	SpinLockRelease(&reports->mutex);
}

bool
gpusort_reports_take(GpuSortSharedReports *reports, GpuSortIndexReader *reader, int workers,
					 double *live)
{
	bool		complete;

	SpinLockAcquire(&reports->mutex);
	complete = reports->count == workers &&
		reports->sent_bytes == gpusort_exchange_moved_bytes(reader->exchange);
	*live += reports->live;
	reader->target.info->ii_BrokenHotChain |= reports->broken_hot_chain;
	reader->rows.failed |= reports->failed;
	SpinLockRelease(&reports->mutex);
	return complete;
}

/* ---------- shared memory ---------- */

void
gpusort_index_shared_find(GpuSortSharedMemory *memory, shm_toc *toc)
{
	memory->build = gpusort_member(toc, GPUSORT_INDEX_MEMBER_BUILD);
	memory->scan = gpusort_member(toc, GPUSORT_INDEX_MEMBER_SCAN);
	memory->row_queues = gpusort_member(toc, GPUSORT_INDEX_MEMBER_ROW_QUEUES);
	memory->note_queues = gpusort_member(toc, GPUSORT_INDEX_MEMBER_NOTE_QUEUES);
	memory->view = gpusort_member(toc, GPUSORT_INDEX_MEMBER_VIEW);
	memory->team = gpusort_member(toc, GPUSORT_INDEX_MEMBER_TEAM);
}
