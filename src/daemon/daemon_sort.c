/*
 * daemon_sort.c
 *		Sorting one job on devices: uploading its rows, sorting and reordering them, and
 *		telling its backend.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/daemon.h"
#include "daemon/daemon_jobs.h"
#include "protocol/gsd_wake.h"

/*
 * A backend that reads the first rows while others are being sorted is woken at most once in so
 * many ms: a wake-up costs it some 10 us.
 */
#define WAKE_INTERVAL_MS 0.5

/*
 * Backends say which extents are fed, and devices take segments: an extent holds one segment of
 * words.
 */
_Static_assert(GS_SEGMENT_ROWS == GSD_EXTENT_WORDS, "a segment of words fills an extent");

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static gsd_job *
pool_job(const gsd_sorter *sorter, unsigned n)
{
	return &sorter->common->pool->header->jobs[n];
}

void
gsd_sorter_begin(gsd_sorter *sorter, gsd_common *common)
{
	sorter->common = common;
	sorter->idle_bytes = gsd_device_bytes_free(&sorter->group);
}

/* Sets in the pool how much device memory is in use. */
static void
publish_used_bytes(gsd_sorter *sorter)
{
	uint64_t	used = sorter->idle_bytes - gsd_device_bytes_free(&sorter->group);

	sorter->common->pool->header->service.device_bytes_used += used - sorter->used_bytes;
	sorter->used_bytes = used;
}

static gs_status
begin_device_job(gsd_sorter *sorter, gsd_work *work, uint64_t expected_rows)
{
	gs_status	status = GS_OK;

	if (work->job == NULL)
		status = gs_device_begin(&sorter->group, work->nplanes, expected_rows, &work->job);
	if (status != GS_OK)
		work->job = NULL;
	return status;
}

/*
 * Takes extents for rows that the devices have no room for, as many as are of use, if there are as
 * many side by side that nobody has.  A session that wants some meanwhile goes on in memory of its
 * own.
 */
static void
take_park(gsd_sorter *sorter, gsd_work *work)
{
	const gsd_pool *pool = sorter->common->pool;
	gs_device_args *args = &sorter->arguments.args;
	uint64_t	bytes = gs_device_park_bytes(work->job, args);
	uint64_t	count = (bytes + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES;

	if (count == 0 || count > pool->header->nextents || work->park_extents > 0 ||
		!gsd_take_row(pool->header, (uint32_t) count, GSD_OWNER_DAEMON, &work->first_park))
		return;
	work->park_extents = (uint32_t) count;
	args->park = gsd_extent(pool, work->first_park);
	args->park_bytes = count * GSD_EXTENT_BYTES;
}

/* Gives them back, when no device uses them any more. */
static void
give_park(gsd_sorter *sorter, gsd_work *work)
{
	for (uint32_t i = 0; i < work->park_extents; i++)
		gsd_give_extent(sorter->common->pool->header, work->first_park + i, GSD_OWNER_DAEMON);
	work->park_extents = 0;
}

static void
end_device_job(gsd_sorter *sorter, gsd_work *work)
{
	gs_device_end(work->job);
	work->job = NULL;
	give_park(sorter, work);
	publish_used_bytes(sorter);
}

void
gsd_work_end(gsd_sorter *sorter, gsd_work *work)
{
	gs_reorder_end(work->reorder);
	work->reorder = NULL;
	end_device_job(sorter, work);
}

static void
feed_rows(gsd_sorter *sorter, gsd_work *work, unsigned n, const gsd_descriptor *descriptor)
{
	uint64_t	extents = descriptor->fed_row_bytes >> GSD_EXTENT_SHIFT;

	if (work->fed_extents < extents && work->reorder == NULL)
		work->reorder = gs_reorder_begin(&sorter->group);
	while (work->reorder != NULL && work->fed_extents < extents)
	{
		const void *rows = gsd_row_extent(sorter->common->pool, n, work->fed_extents);

		if (rows == NULL || !gs_reorder_feed(work->reorder, rows, GSD_EXTENT_BYTES))
			break;				/* the rest is uploaded in the end, or nothing is reordered */
		work->fed_extents++;
	}
}

static void
feed_plane(gsd_sorter *sorter, gsd_work *work, unsigned n, unsigned plane,
		   const gsd_descriptor *descriptor)
{
	uint64_t	segments = descriptor->fed_rows[plane] >> GS_SEGMENT_SHIFT;

	while (work->fed_segments[plane] < segments)
	{
		uint64_t	segment = work->fed_segments[plane];
		const uint64_t *words = gsd_segment_words(sorter->common->pool, n, plane, segment);

		if (words == NULL || begin_device_job(sorter, work, descriptor->expected_rows) != GS_OK)
			break;				/* the run will find out what is wrong */
		gs_device_feed(work->job, plane, segment, words);
		work->fed_segments[plane]++;
	}
}

void
gsd_work_feed(gsd_sorter *sorter, gsd_work *work, unsigned n)
{
	const gsd_descriptor *descriptor = gsd_job_descriptor(sorter->common->pool, n);

	for (unsigned plane = 0; descriptor != NULL && plane < work->nplanes; plane++)
		feed_plane(sorter, work, n, plane, descriptor);
	if (descriptor != NULL)
		feed_rows(sorter, work, n, descriptor);
	publish_used_bytes(sorter);
}

void
gsd_work_feed_again(gsd_work *work)
{
	gs_reorder_end(work->reorder);
	work->reorder = NULL;
	work->fed_extents = 0;
	if (work->job == NULL)
		return;
	for (unsigned plane = 0; plane < work->nplanes; plane++)
		gs_device_unfeed(work->job, plane);
	memset(work->fed_segments, 0, sizeof(work->fed_segments));
}

static void
publish_result(gsd_job *job, const gs_device_result *result)
{
	job->result = (gsd_result) {
		.key_bits = result->key_bits,
		.devices = result->devices,
		.rounds = result->rounds,
		.histograms = result->histograms,
		.buckets = result->buckets,
		.presorted = result->presorted,
		.exchanged_rows = result->exchanged_rows,
		.refined_rows = result->refined_rows,
	};
}

/* Has all devices of the sorter keep a trace, or none of them. */
static void
keep_trace(gsd_sorter *sorter, bool keep)
{
	for (unsigned d = 0; d < sorter->group.ndevices; d++)
		sorter->group.devices[d]->ops->keep_trace(sorter->group.devices[d], keep);
}

/* Appends what a device did to an array of nspans spans, and returns how many there are then. */
static uint32_t
publish_device_spans(gs_device *device, gsd_span *to, uint32_t nspans)
{
	gs_span_time spans[GSD_MAX_SPANS];
	unsigned	count = device->ops->read_trace(device, spans, GSD_MAX_SPANS - nspans);

	for (unsigned i = 0; i < count; i++)
	{
		to[nspans] = (gsd_span) {
			.device = device->index,
			.queue = spans[i].queue,
			.begin_ms = spans[i].begin_ms,
			.end_ms = spans[i].end_ms,
		};
		strncpy(to[nspans].name, spans[i].name, sizeof(to[nspans].name) - 1);
		nspans++;
	}
	return nspans;
}

static void
publish_spans(gsd_sorter *sorter, unsigned n)
{
	gsd_descriptor *descriptor = gsd_job_descriptor(sorter->common->pool, n);
	uint32_t	nspans = 0;

	for (unsigned d = 0; descriptor != NULL && d < sorter->result.devices; d++)
		nspans = publish_device_spans(sorter->group.devices[d], descriptor->spans, nspans);
	if (descriptor != NULL)
		descriptor->nspans = nspans;
	keep_trace(sorter, false);
}

/* Makes the fault that was asked for, a crash or a stop, if it is due in this run. */
static void
make_fault(gsd_common *common, gsd_fault crash, gsd_fault stop)
{
	gsd_fault	fault = common->fault;

	if (common->runs != common->fault_at || (fault != crash && fault != stop))
		return;
	common->fault = GSD_FAULT_NONE;
	raise(fault == crash ? SIGSEGV : SIGSTOP);
}

/* Wakes the backend for new rows, but not more often than every WAKE_INTERVAL_MS. */
static void
tell_backend(gsd_sorter *sorter, unsigned n)
{
	if (now_ms() - sorter->woken_ms < WAKE_INTERVAL_MS)
		return;
	gsd_wake_waiter(pool_job(sorter, n));
	sorter->woken_ms = now_ms();
}

/*
 * Tells the backend that the rows from `before` to `ready` are ready.  It is not woken for the last
 * row: DONE will wake it, unless rows are to be reordered first.
 */
static void
publish_rows(gsd_sorter *sorter, unsigned n, uint64_t before, uint64_t ready)
{
	gsd_common *common = sorter->common;
	gsd_job    *job = pool_job(sorter, n);
	uint64_t	step = common->step_rows > 0 ? common->step_rows : ready;

	while (before < ready)
	{
		before = ready - before > step ? before + step : ready;
		job->ready_rows = before;
		if (before == sorter->arguments.args.nrows)
		{
			if (sorter->arguments.reorder)
				gsd_wake_waiter(job);
			return;
		}
		tell_backend(sorter, n);
		make_fault(common, GSD_FAULT_CRASH_LATE, GSD_FAULT_STOP_LATE);
	}
}

/* Does the same for rows that have been reordered. */
static void
publish_reordered(gsd_sorter *sorter, unsigned n, uint64_t before, uint64_t ready)
{
	gsd_common *common = sorter->common;
	gsd_job    *job = pool_job(sorter, n);
	uint64_t	step = common->step_rows > 0 ? common->step_rows : ready;

	while (before < ready)
	{
		before = ready - before > step ? before + step : ready;
		job->reordered_rows = before;
		tell_backend(sorter, n);
		make_fault(common, GSD_FAULT_CRASH_REORDER, GSD_FAULT_STOP_REORDER);
	}
}

static void
do_others(gsd_sorter *sorter)
{
	if (sorter->between != NULL)
		sorter->between(sorter->arg);
}

/* Waits until all rows are sorted, and tells the backend of them as they become ready. */
static gs_status
wait_for_rows(gsd_sorter *sorter, gsd_work *work, unsigned n, const char **message)
{
	uint64_t	ready = 0;

	while (ready < sorter->arguments.args.nrows)
	{
		uint64_t	before = ready;
		gs_status	status = gs_device_wait(work->job, &ready, message);

		if (status != GS_OK)
			return status;
		publish_rows(sorter, n, before, ready);
		do_others(sorter);
	}
	return GS_OK;
}

gs_status
gsd_sorter_run_begins(gsd_sorter *sorter, const char **message)
{
	gsd_common *common = sorter->common;

	common->runs++;
	make_fault(common, GSD_FAULT_CRASH, GSD_FAULT_STOP);
	if (common->runs != common->fault_at || common->fault != GSD_FAULT_LOST)
		return GS_OK;
	*message = "a lost device was asked for";
	return GS_DEVICE_LOST;
}

gs_status
gsd_work_sort(gsd_sorter *sorter, gsd_work *work, unsigned n, const char **message)
{
	gsd_common *common = sorter->common;
	gsd_job    *job = pool_job(sorter, n);
	double		begin_ms = now_ms();
	gs_status	status;

	*message = gsd_read_arguments(common->pool, n, &sorter->arguments);
	if (*message != NULL)
		return GS_INVALID;
	status = gsd_sorter_run_begins(sorter, message);
	if (status != GS_OK)
		return status;
	keep_trace(sorter, sorter->arguments.traced);
	status = begin_device_job(sorter, work, sorter->arguments.args.nrows);
	if (status == GS_OK)
		take_park(sorter, work);
	if (status == GS_OK)
		status = gs_device_run(work->job, &sorter->arguments.args, &sorter->result, message);
	if (status != GS_OK)
		return status;
	publish_result(job, &sorter->result);
	status = wait_for_rows(sorter, work, n, message);
	if (status != GS_OK)
		return status;
	job->result.device_ms = now_ms() - begin_ms;
	if (sorter->arguments.traced)
		publish_spans(sorter, n);
	end_device_job(sorter, work);
	return GS_OK;
}

/* Reorders all rows, and tells the backend of them as they get in place. */
static gs_status
reorder_rows(gsd_sorter *sorter, gsd_work *work, unsigned n, const char **message)
{
	uint64_t	ready = 0;
	gs_status	status;

	if (work->reorder == NULL)
		work->reorder = gs_reorder_begin(&sorter->group);
	if (work->reorder == NULL)
		return GS_NO_SPACE;
	status = gs_reorder_run(work->reorder, &sorter->arguments.rows, message);
	while (status == GS_OK && ready < sorter->arguments.args.nrows)
	{
		uint64_t	before = ready;

		status = gs_reorder_wait(work->reorder, &ready, message);
		if (status == GS_OK)
			publish_reordered(sorter, n, before, ready);
		do_others(sorter);
	}
	return status;
}

gs_status
gsd_work_reorder(gsd_sorter *sorter, gsd_work *work, unsigned n)
{
	double		begin_ms = now_ms();
	const char *message = "out of memory";
	gs_status	status;

	if (!sorter->arguments.reorder)
		return GS_OK;
	status = reorder_rows(sorter, work, n, &message);
	if (status == GS_DEVICE_ERROR || status == GS_DEVICE_LOST)
		gsd_log("rows could not be reordered: %s", message);
	pool_job(sorter, n)->result.reorder_ms = now_ms() - begin_ms;
	return status;
}

void
gsd_sorter_forget(gsd_sorter *sorter)
{
	gsd_free_arguments(&sorter->arguments);
}
