/*
 * index_reports.c
 *		What workers of an index build tell the leader; see index_reports.h.
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
	reports->broken_hot_chain |= reader->target.info->ii_BrokenHotChain;
	reports->failed |= reader->rows.failed;
	SpinLockRelease(&reports->mutex);
}

int
gpusort_reports_take(GpuSortSharedReports *reports, GpuSortIndexReader *reader, double *live)
{
	int			count;

	SpinLockAcquire(&reports->mutex);
	count = reports->count;
	*live += reports->live;
	reader->target.info->ii_BrokenHotChain |= reports->broken_hot_chain;
	reader->rows.failed |= reports->failed;
	SpinLockRelease(&reports->mutex);
	return count;
}
