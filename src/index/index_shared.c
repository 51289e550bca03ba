/*
 * index_shared.c
 *		Lays out the shared memory of an index build by several processes, and takes the reports
 *		of workers; see index_shared_private.h.
 */
#include "postgres.h"

#include "index/index_shared_private.h"
#include "memory/pool.h"
#include "team/worker_start.h"

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

/* Key of the first part in the table of contents; the others follow. */
#define FIRST_KEY		UINT64CONST(0x4753000000000001)

typedef enum Part
{
	PART_BUILD,
	PART_SCAN,
	PART_ROW_QUEUES,
	PART_NOTE_QUEUES,
	PART_VIEW,
	PART_TEAM,
	PARTS
} Part;

static void
set_parts(GpuSortSharedMemory *memory, void **parts)
{
	memory->build = parts[PART_BUILD];
	memory->scan = parts[PART_SCAN];
	memory->row_queues = parts[PART_ROW_QUEUES];
	memory->note_queues = parts[PART_NOTE_QUEUES];
	memory->view = parts[PART_VIEW];
	memory->team = parts[PART_TEAM];
}

/* Allocate the parts whose size is not 0.  Returns false if there is no shared memory. */
static bool
make_parts(ParallelContext *context, const Size *bytes, void **parts)
{
	for (int i = 0; i < PARTS; i++)
	{
		if (bytes[i] == 0)
			continue;
		shm_toc_estimate_chunk(&context->estimator, bytes[i]);
		shm_toc_estimate_keys(&context->estimator, 1);
	}
	if (!gpusort_init_parallel_context(context))
		return false;
	for (int i = 0; i < PARTS; i++)
	{
		if (bytes[i] == 0)
			continue;
		parts[i] = shm_toc_allocate(context->toc, bytes[i]);
		shm_toc_insert(context->toc, FIRST_KEY + i, parts[i]);
	}
	return true;
}

bool
gpusort_index_shared_create(GpuSortSharedMemory *memory, ParallelContext *context, Size scan_bytes)
{
	int			workers = context->nworkers;
	bool		can_write = gpusort_pool != NULL;
	void	   *parts[PARTS] = {NULL};
	Size		bytes[PARTS] = {
		[PART_BUILD] = sizeof(GpuSortSharedBuild),
		[PART_SCAN] = scan_bytes,
		[PART_ROW_QUEUES] = gpusort_exchange_bytes(workers),
		[PART_NOTE_QUEUES] = can_write ? gpusort_notes_bytes(workers) : 0,
		[PART_VIEW] = can_write ? gpusort_view_shared_bytes() : 0,
		[PART_TEAM] = gpusort_team_bytes()
	};

	if (!make_parts(context, bytes, parts))
		return false;
	set_parts(memory, parts);
	return true;
}

void
gpusort_index_shared_find(GpuSortSharedMemory *memory, shm_toc *toc)
{
	void	   *parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = shm_toc_lookup(toc, FIRST_KEY + i, true);
	set_parts(memory, parts);
}
