/*
 * index_leader.c
 *		The leader of an index build by several processes; see index_shared_private.h.
 *
 * A leader that gives the build up detaches from the queues, which makes the workers stop.  A
 * worker that cannot take a row in says so in shared memory.  Workers' errors reach the leader
 * through the server's own error queues.  A worker that ends without a message is noticed where the
 * leader waits (worker_wait.h), or else because its report or a slice is missing, and the statement
 * fails (gpusort_stage_fail()).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "index/index_shared_private.h"
#include "memory/pool.h"
#include "pg_compat.h"
#include "sort/sort_parts.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* Wait event of a leader that waits for workers' rows; 0 until it is first used. */
static uint32 wait_event = 0;

struct GpuSortIndexLeader
{
	ParallelContext *context;
	Relation	heap;
	Snapshot	snapshot;		/* for the server's parallel scan */
	GpuSortSharedMemory shared;
	GpuSortStageControl stage;
	GpuSortIndexSlices slices;
};

/* Fill in what is to be built, and how, by the reader at `from`. */
static bool
fill_build(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	GpuSortSharedBuild *build = member;
	GpuSortSharedTask *task = &build->task;
	const GpuSortIndexReader *reader = declared->from;
	const GpuSortIndexTarget *target = &reader->target;

	memset(build, 0, sizeof(*build));
	task->heap = RelationGetRelid(target->heap);
	task->index = RelationGetRelid(target->index);
	task->concurrent = target->info->ii_Concurrent;
	task->unique = target->info->ii_Unique;
	task->by_pages = reader->by_pages;
	task->has_parts = reader->rows.parts != NULL;
	if (task->has_parts)
		task->parts = gpusort_parts_number(reader->rows.parts);
	gpusort_blocks_init(&build->blocks);
	gpusort_reports_init(&build->reports);
	gpusort_stage_init(&build->stage);
	return true;
}

/* Initialize the server's parallel scan, for the leader at `from`. */
static bool
fill_scan(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	const GpuSortIndexLeader *leader = declared->from;

	table_parallelscan_initialize(leader->heap, member, leader->snapshot);
	return true;
}

/* Without a pool, workers can't write. */
static void
start_workers(GpuSortIndexLeader *leader, GpuSortIndexReader *reader, int workers)
{
	GpuSortMember members[GPUSORT_INDEX_MEMBERS] = {
		[GPUSORT_INDEX_MEMBER_BUILD] = {sizeof(GpuSortSharedBuild), fill_build, reader},
		[GPUSORT_INDEX_MEMBER_ROW_QUEUES] = gpusort_exchange_member(workers),
		[GPUSORT_INDEX_MEMBER_TEAM] = gpusort_team_member()
	};

	if (!reader->by_pages)
		members[GPUSORT_INDEX_MEMBER_SCAN] = (GpuSortMember)
		{
			table_parallelscan_estimate(leader->heap, leader->snapshot), fill_scan, leader
		};
	if (gpusort_pool != NULL)
	{
		members[GPUSORT_INDEX_MEMBER_NOTE_QUEUES] = gpusort_notes_member(workers);
		members[GPUSORT_INDEX_MEMBER_VIEW] = (GpuSortMember) {gpusort_view_shared_bytes()};
	}
	leader->context = gpusort_workers_start("gpusort_index_worker", workers, members,
											GPUSORT_INDEX_MEMBERS);
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
release_snapshot(GpuSortIndexLeader *leader)
{
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
}

GpuSortIndexLeader *
gpusort_leader_begin(GpuSortIndexReader *reader, int workers)
{
	GpuSortIndexLeader *leader = palloc0(sizeof(GpuSortIndexLeader));
	GpuSortIndexRows *rows = &reader->rows;

	leader->heap = reader->target.heap;
	leader->snapshot = reader->target.info->ii_Concurrent
		? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	rows->parts = gpusort_parts_create(rows->sort, workers + 1, gpusort_expected_rows(rows->sort));
	start_workers(leader, reader, workers);
	if (leader->context == NULL)
	{
		if (rows->parts != NULL)
			gpusort_parts_dissolve(rows->sort);
		rows->parts = NULL;
		release_snapshot(leader);
		return NULL;
	}
	gpusort_index_shared_find(&leader->shared, leader->context->toc);
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
	gpusort_workers_finish(leader->context);
	release_snapshot(leader);
	gpusort_workers_end(leader->context);
}
