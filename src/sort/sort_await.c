/*
 * sort_await.c
 *		Waiting for what gpusortd has yet to do; see service_private.h.
 */
#include "postgres.h"

#include "service/service.h"
#include "sort/service_private.h"
#include "sort/state_private.h"

/*
 * While rows are brought into order: finds out how many already are, or, with gpusort.reorder_rows
 * = on, waits until `rows` are.
 */
static void
look_for_reordered(GpuSort *sort, uint64 rows)
{
	GpuSortJob *job = &sort->service.job;
	GpuSortOrder *order = &sort->order;
	GpuSortReordered *reorder = &sort->reorder;
	bool		wait = gpusort_reorder_rows == GPUSORT_REORDER_ON;
	bool		over;

	/* row ids come first: the job must not be closed before all of them are there */
	if (order->ready < sort->rows.count && wait)
		gpusort_service_await(sort, sort->rows.count);
	else if (order->ready < sort->rows.count)
		order->ready = Max(order->ready, gpusort_job_ready(job));
	if (order->ready < sort->rows.count || !reorder->running)
		return;
	if (wait && reorder->count < rows)
		over = gpusort_job_wait_reordered(job, rows, &reorder->count);
	else
		over = gpusort_job_reordered(job, &reorder->count);
	if (over)
		gpusort_service_end(sort);
}

void
gpusort_await_rows(GpuSort *sort, uint64 rows)
{
	if (rows > sort->order.ready)
		gpusort_service_await(sort, rows);
	if (sort->reorder.running)
		look_for_reordered(sort, rows);
	else if (sort->service.job.open)
		gpusort_service_look(sort);
}

void
gpusort_await_all(GpuSort *sort)
{
	uint64		rows = sort->rows.count;

	if (sort->order.ready < rows)
		gpusort_service_await(sort, rows);
	if (!sort->reorder.running)
		return;
	(void) gpusort_job_wait_reordered(&sort->service.job, rows, &sort->reorder.count);
	gpusort_service_end(sort);
}
