/*
 * index_reports.c
 *		Reports of an index build's workers to the leader; see index_reports.h.
 */
#include "postgres.h"

#include "index/index_reports.h"

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
