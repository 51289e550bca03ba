/*
 * index_worker.c
 *		A worker of an index build: reads its share of the table, and then does what the leader
 *		says.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"

#include "index/index_read_private.h"
#include "index/index_shared_private.h"
#include "index/index_write_private.h"
#include "sort/sort.h"
#include "sort/sort_view.h"
#include "team/workers.h"

/*
 * Memory limit of a worker's sort, which holds a batch and a tuple, and what the sort adds to each
 * row.
 */
#define SORT_BYTES		((size_t) 4 * 1024 * 1024)

PGDLLEXPORT void gpusort_index_worker(dsm_segment *segment, shm_toc *toc);

/* Read this worker's share of the table, and report what was read. */
static void
read_share(GpuSortIndexReader *reader, const GpuSortSharedMemory *shared)
{
	GpuSortSharedTask *task = &shared->build->task;
	GpuSortIndexRows *rows = &reader->rows;
	GpuSortSpec no_keys = {0};
	double		live;

	reader->by_pages = task->by_pages;
	reader->scan = shared->scan;
	reader->blocks.shared = &shared->build->blocks;
	rows->sort = gpusort_begin_index(reader->target.index, &no_keys, SORT_BYTES);
	if (rows->sort == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to reserve address space in a worker of an index build.")));
	if (task->has_parts)
		rows->parts = gpusort_parts_attach(task->parts);
	live = gpusort_index_scan(reader);
	gpusort_exchange_send_rest(reader->exchange, rows);
	gpusort_reports_add(&shared->build->reports, reader, live);
	gpusort_exchange_close(reader->exchange);
	gpusort_end(rows->sort);
}

/*
 * Help to sort, until the leader sets a stage, and then help to write if there is something to
 * write.
 */
static void
follow_leader(const GpuSortIndexTarget *target, const GpuSortSharedMemory *shared,
			  shm_mq_handle *notes)
{
	GpuSortSharedBuild *build = shared->build;
	GpuSortStage stage;
	GpuSortViewMapping mapping;
	GpuSortView view;

	gpusort_team_help(shared->team);
	stage = gpusort_stage_await(&build->stage);
	if (stage == GPUSORT_STAGE_END)
		return;
	if (stage == GPUSORT_STAGE_WRITE && build->slices.by_portions)
	{
		gpusort_portions_help(&build->slices, target, notes);
		return;
	}
	if (!gpusort_attach_view(shared->view, &view, &mapping))
		return;
	gpusort_slices_help(&build->slices, target, &view, notes);
	gpusort_detach_view(&mapping);
}

/* Open the relations with the leader's locks, and take part in the build. */
static void
take_part(const GpuSortSharedMemory *shared, dsm_segment *segment)
{
	const GpuSortSharedTask *task = &shared->build->task;
	LOCKMODE	heap_lock = task->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	LOCKMODE	index_lock = task->concurrent ? RowExclusiveLock : AccessExclusiveLock;
	GpuSortIndexReader reader = {0};
	GpuSortIndexTarget *target = &reader.target;
	shm_mq_handle *notes = NULL;

	reader.exchange = gpusort_exchange_join(shared->row_queues, segment);
	if (shared->note_queues != NULL)
		notes = gpusort_notes_join(shared->note_queues, segment);
	target->heap = table_open(task->heap, heap_lock);
	target->index = index_open(task->index, index_lock);
	target->info = BuildIndexInfo(target->index);
	target->info->ii_Concurrent = task->concurrent;
	target->info->ii_Unique = task->unique;
	read_share(&reader, shared);
	if (notes != NULL)
		follow_leader(target, shared, notes);
	index_close(target->index, index_lock);
	table_close(target->heap, heap_lock);
}

void
gpusort_index_worker(dsm_segment *segment, shm_toc *toc)
{
	GpuSortSharedMemory shared;

	gpusort_index_shared_find(&shared, toc);
	gpusort_begin_worker(toc);
	take_part(&shared, segment);
	gpusort_end_worker(toc);
}
