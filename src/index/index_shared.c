/*
 * index_shared.c
 *		Finds the shared memory of an index build by several processes, and takes the reports of
 *		workers; see index_shared_private.h.
 */
#include "postgres.h"

#include "index/index_shared_private.h"

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
