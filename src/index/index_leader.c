/*
 * index_leader.c
 *		The leader of an index build by several processes; see index_shared_private.h.
 *
 * A leader that gives the build up detaches from the queues, which makes the workers stop.  A
 * worker that cannot take a row in says so in shared memory.  Workers' errors reach the leader
 * through the server's own error queues, and the server also notices a worker that has ended
 * without a message.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "index/index_shared_private.h"
#include "pg_compat.h"
#include "sort/sort_parts.h"
#include "team/worker_start.h"
#include "team/worker_usage.h"
#include "team/worker_wait.h"

/* Wait event of a leader that waits for workers' rows; 0 until it is first used. */
static uint32 wait_event = 0;

struct GpuSortIndexLeader
{
	ParallelContext *context;
	Snapshot	snapshot;		/* for the server's parallel scan */
	GpuSortSharedMemory shared;
	GpuSortStageControl stage;
	GpuSortIndexSlices slices;
};

/* Fill in what is to be built, and how. */
static void
fill_task(GpuSortSharedTask *task, const GpuSortIndexReader *reader)
{
	const GpuSortIndexTarget *target = &reader->target;

	task->heap = RelationGetRelid(target->heap);
	task->index = RelationGetRelid(target->index);
	task->concurrent = target->info->ii_Concurrent;
	task->unique = target->info->ii_Unique;
	task->by_pages = reader->by_pages;
	task->has_parts = reader->rows.parts != NULL;
	if (task->has_parts)
		task->parts = gpusort_parts_number(reader->rows.parts);
}

/*
 * Create and fill the shared memory that the workers find.  Returns false if there is none to be
 * had.
 */
static bool
make_shared_memory(GpuSortIndexLeader *leader, GpuSortIndexReader *reader)
{
	Relation	heap = reader->target.heap;
	GpuSortSharedMemory *shared = &leader->shared;
	int			workers = leader->context->nworkers;
	Size		scan_bytes = reader->by_pages ? 0
		: table_parallelscan_estimate(heap, leader->snapshot);

	if (!gpusort_index_shared_create(shared, leader->context, scan_bytes))
		return false;
	reader->rows.parts = gpusort_parts_create(reader->rows.sort, workers + 1,
											  gpusort_expected_rows(reader->rows.sort));
	memset(shared->build, 0, sizeof(*shared->build));
	fill_task(&shared->build->task, reader);
	gpusort_blocks_init(&shared->build->blocks);
	gpusort_reports_init(&shared->build->reports);
	gpusort_stage_init(&shared->build->stage);
	gpusort_team_init(shared->team, 0);
	if (shared->scan != NULL)
		table_parallelscan_initialize(heap, shared->scan, leader->snapshot);
	gpusort_exchange_init(shared->row_queues, workers);
	if (shared->note_queues != NULL)
		gpusort_notes_init(shared->note_queues, workers);
	return true;
}

/* Connect the leader to the workers that were launched, for rows, for the sort and for writing. */
static void
attach_workers(GpuSortIndexLeader *leader, GpuSortIndexReader *reader)
{
	GpuSortSharedMemory *shared = &leader->shared;

	if (reader->rows.parts != NULL)
		gpusort_parts_launched(reader->rows.parts, leader->context->nworkers_launched + 1);
	reader->scan = shared->scan;
	reader->blocks.shared = &shared->build->blocks;
	reader->exchange = gpusort_exchange_attach(shared->row_queues, leader->context);
	leader->stage = (GpuSortStageControl) {
		.shared = &shared->build->stage,
		.context = leader->context,
		.index = reader->target.index,
		.sort = reader->rows.sort,
		.view = shared->view,
		.team = shared->team
	};
	gpusort_use_team(reader->rows.sort, shared->team, leader->context->nworkers_launched + 1);
	if (shared->note_queues == NULL)
		return;
	leader->slices = (GpuSortIndexSlices) {
		.shared = &shared->build->slices,
		.stage = &leader->stage,
		.notes = gpusort_notes_attach(shared->note_queues, &leader->stage)
	};
}

static void
end_parallel_mode(GpuSortIndexLeader *leader)
{
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
	DestroyParallelContext(leader->context);
	ExitParallelMode();
}

GpuSortIndexLeader *
gpusort_leader_begin(GpuSortIndexReader *reader, int workers)
{
	GpuSortIndexLeader *leader = palloc0(sizeof(GpuSortIndexLeader));
	const IndexInfo *info = reader->target.info;

	EnterParallelMode();
	leader->snapshot = info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	leader->context = gpusort_create_parallel_context("gpusort_index_worker", workers);
	if (!make_shared_memory(leader, reader))
	{
		end_parallel_mode(leader);
		return NULL;
	}
	LaunchParallelWorkers(leader->context);
	if (leader->context->nworkers_launched == 0)
	{
		gpusort_parts_dissolve(reader->rows.sort);
		reader->rows.parts = NULL;
		end_parallel_mode(leader);
		return NULL;
	}
	attach_workers(leader, reader);
	return leader;
}

/* Take in workers' rows until all workers have detached from their queues. */
static void
receive_rest(GpuSortIndexReader *reader)
{
	GpuSortIndexRows *rows = &reader->rows;

	while (gpusort_exchange_is_open(reader->exchange) && !rows->failed)
	{
		CHECK_FOR_INTERRUPTS();
		if (gpusort_exchange_receive(reader->exchange, rows))
			gpusort_blocks_report(&reader->blocks);
		else if (gpusort_exchange_is_open(reader->exchange))
			gpusort_worker_await_latch(gpusort_wait_event(&wait_event, "GpuSortIndexRows"));
	}
}

double
gpusort_leader_finish_reading(GpuSortIndexLeader *leader, GpuSortIndexReader *reader, double live)
{
	GpuSortIndexRows *rows = &reader->rows;
	bool		complete;

	receive_rest(reader);
	gpusort_blocks_report(&reader->blocks);
	complete = gpusort_reports_take(&leader->shared.build->reports, reader,
									leader->context->nworkers_launched, &live);
	gpusort_exchange_close(reader->exchange);
	reader->exchange = NULL;
	if (!rows->failed && !complete)
		gpusort_stage_fail(&leader->stage);
	if (rows->parts != NULL && !rows->failed)
		gpusort_parts_join(rows->parts, rows->sort);
	return live;
}

int
gpusort_leader_workers(const GpuSortIndexLeader *leader)
{
	return leader->context->nworkers_launched;
}

const GpuSortIndexSlices *
gpusort_leader_slices(const GpuSortIndexLeader *leader)
{
	return leader->slices.shared != NULL ? &leader->slices : NULL;
}

void
gpusort_leader_end(GpuSortIndexLeader *leader)
{
	gpusort_stage_end(&leader->stage);
	gpusort_finish_workers(leader->context);
	end_parallel_mode(leader);
}
