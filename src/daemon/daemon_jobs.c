/*
 * daemon_jobs.c
 *		Serving the jobs of the pool.
 *
 * Any number of jobs may be open, since collecting rows takes seconds: what they
 * feed is uploaded meanwhile.  One job at a time is sorted, on all devices, small ones
 * before large ones (daemon_queue.h).  Between the steps of a sort the other
 * jobs are looked at, so that their rows keep flowing.
 *
 * The handshake with the backends is described in gsd_pool.h.  A job that this
 * daemon has not opened itself but that is not IDLE was left behind by an earlier
 * daemon; its backend knows already, and it becomes IDLE when that has closed it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/daemon_descriptor.h"
#include "daemon/daemon_devices.h"
#include "daemon/daemon_jobs.h"
#include "daemon/daemon_log.h"
#include "daemon/daemon_queue.h"
#include "protocol/gsd_wake.h"

/*
 * A backend that reads the first rows while others are sorted is woken at most so
 * often: a wake-up costs it some 10 us.
 */
#define WAKE_INTERVAL_MS 0.5

/* Devices are not used any more when they have sorted wrongly so many times. */
#define MAX_WRONG_RUNS	2

/* What backends say about whole extents is passed on to devices by segments. */
_Static_assert(GS_SEGMENT_ROWS == GSD_EXTENT_WORDS, "a segment of words fills an extent");

/* A slot of the pool's jobs, as the daemon sees it. */
typedef enum slot_phase
{
	SLOT_FREE,
	SLOT_OPEN,					/* rows are coming */
	SLOT_READY,					/* waits for its turn */
	SLOT_RUNNING,
	SLOT_ANSWERED				/* DONE or FAILED; waits to be closed */
} slot_phase;

typedef struct slot
{
	slot_phase	phase;
	gs_device_job *job;			/* NULL: not begun, or ended */
	unsigned	nplanes;		/* that it was begun with */
	uint64_t	fed_segments[GS_MAX_PLANES];
	gs_reorder *reorder;		/* NULL: no rows to be reordered, so far */
	uint64_t	fed_extents;	/* of rows */
} slot;

struct gsd_jobs
{
	gsd_pool   *pool;
	gsd_service *service;
	gs_group   *group;
	gsd_fault	fault;
	uint64_t	fault_at;
	uint64_t	step_rows;
	uint64_t	runs;
	gsd_queue	queue;			/* of slots that are ready */
	double		woken_ms;		/* when a backend was last told of rows */
	uint64_t	idle_bytes;		/* free on the devices when there is no job */
	unsigned	wrong_runs;		/* that devices sorted wrongly */
	gsd_exit	end;			/* why nothing goes on; GSD_EXIT_ASKED: it does */

	/* of the job that runs */
	gsd_arguments arguments;
	gs_device_result result;

	slot		slots[GSD_MAX_JOBS];
};

static double
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

gsd_jobs *
gsd_jobs_begin(gsd_pool *pool, gs_group *group, const gsd_options *options)
{
	gsd_jobs *jobs = calloc(1, sizeof(*jobs));

	if (jobs == NULL)
		return NULL;
	jobs->pool = pool;
	jobs->service = &pool->header->service;
	jobs->group = group;
	jobs->fault = options->fault;
	jobs->fault_at = options->fault_at;
	jobs->step_rows = options->step_rows;
	jobs->idle_bytes = gsd_device_bytes_free(group);
	return jobs;
}

static gsd_job *
pool_job(gsd_jobs *jobs, unsigned n)
{
	return &jobs->pool->header->jobs[n];
}

static void
end_device_job(gsd_jobs *jobs, slot *slot)
{
	gs_device_end(slot->job);
	slot->job = NULL;
	jobs->service->device_bytes_used = jobs->idle_bytes - gsd_device_bytes_free(jobs->group);
}

/* Have nothing on the devices any more. */
static void
empty_slot(gsd_jobs *jobs, slot *slot)
{
	gs_reorder_end(slot->reorder);
	slot->reorder = NULL;
	end_device_job(jobs, slot);
}

/* Answer a job with a failure. */
static void
fail_job(gsd_jobs *jobs, unsigned n, gsd_failure failure, const char *message)
{
	gsd_job    *job = pool_job(jobs, n);

	snprintf(job->message, sizeof(job->message), "%s", message);
	job->failure = failure;
	empty_slot(jobs, &jobs->slots[n]);
	gsd_queue_leave(&jobs->queue, n);
	jobs->slots[n].phase = SLOT_ANSWERED;
	if (failure == GSD_FAILURE_DEVICE)
		gsd_log("a sort has failed: %s", job->message);
	jobs->service->jobs_failed++;
	job->daemon_state = GSD_DAEMON_FAILED;
	gsd_wake_waiter(job);
}

static gsd_failure
failure_of(gs_status status)
{
	switch (status)
	{
		case GS_NO_SPACE:
		case GS_CANCELLED:
		case GS_INVALID:
			return GSD_FAILURE_JOB;
		default:
			return GSD_FAILURE_DEVICE;
	}
}

/* Open a job, unless its backend has turned away meanwhile. */
static void
open_job(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];
	const gsd_descriptor *descriptor;
	uint32_t	state;
	gs_status	status;

	job->ready_rows = 0;
	job->reordered_rows = 0;
	job->failure = GSD_FAILURE_NONE;
	job->daemon_state = GSD_DAEMON_OPENED;
	state = job->backend_state;
	if (state != GSD_BACKEND_OPEN && state != GSD_BACKEND_RUN)
	{
		gsd_let_go(job);
		return;
	}

	memset(slot, 0, sizeof(*slot));
	slot->phase = SLOT_OPEN;
	descriptor = gsd_job_descriptor(jobs->pool, n);
	slot->nplanes = descriptor != NULL ? descriptor->nplanes : 0;
	if (slot->nplanes == 0 || slot->nplanes > GS_MAX_PLANES)
	{
		fail_job(jobs, n, GSD_FAILURE_JOB, "the job's descriptor is not valid");
		return;
	}
	status = gs_device_begin(jobs->group, slot->nplanes, descriptor->expected_rows, &slot->job);
	if (status != GS_OK)
	{
		slot->job = NULL;
		fail_job(jobs, n, failure_of(status), gs_status_text(status));
	}
}

/* Upload what is new of the rows of an open job, as far as there is room. */
static void
feed_rows(gsd_jobs *jobs, unsigned n, const gsd_descriptor *descriptor)
{
	slot	   *slot = &jobs->slots[n];
	uint64_t	extents = descriptor->fed_row_bytes >> GSD_EXTENT_SHIFT;

	if (slot->fed_extents < extents && slot->reorder == NULL)
		slot->reorder = gs_reorder_begin(jobs->group);
	while (slot->reorder != NULL && slot->fed_extents < extents)
	{
		const void *rows = gsd_row_extent(jobs->pool, n, slot->fed_extents);

		if (rows == NULL || !gs_reorder_feed(slot->reorder, rows, GSD_EXTENT_BYTES))
			break;				/* the rest is uploaded in the end, or nothing is reordered */
		slot->fed_extents++;
	}
}

/* Upload what is new in the planes of an open job. */
static void
feed_job(gsd_jobs *jobs, unsigned n)
{
	slot	   *slot = &jobs->slots[n];
	gsd_descriptor *descriptor = gsd_job_descriptor(jobs->pool, n);

	for (unsigned plane = 0; descriptor != NULL && plane < slot->nplanes; plane++)
	{
		uint64_t	segments = descriptor->fed_rows[plane] >> GS_SEGMENT_SHIFT;

		while (slot->fed_segments[plane] < segments)
		{
			uint64_t	segment = slot->fed_segments[plane];
			const uint64_t *words = gsd_segment_words(jobs->pool, n, plane, segment);

			if (words == NULL)
				break;			/* the run will find out what is wrong */
			gs_device_feed(slot->job, plane, segment, words);
			slot->fed_segments[plane]++;
		}
	}
	if (descriptor != NULL)
		feed_rows(jobs, n, descriptor);
}

/* The backend has closed the job, or an earlier daemon has left it. */
static void
release_job(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];

	if (slot->phase == SLOT_OPEN || slot->phase == SLOT_READY)
		jobs->service->jobs_cancelled++;
	empty_slot(jobs, slot);
	gsd_queue_leave(&jobs->queue, n);
	slot->phase = SLOT_FREE;
	gsd_let_go(job);
	if (job->abandoned)
		gsd_wake_supervisor(jobs->pool->header);
}

/* See to one job, short of sorting; true if its state has changed. */
static bool
look_at_job(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];
	uint32_t	state = job->backend_state;
	bool		wanted = state == GSD_BACKEND_OPEN || state == GSD_BACKEND_RUN;

	if (slot->phase == SLOT_RUNNING)
		return false;
	if (!wanted)
	{
		if (job->daemon_state == GSD_DAEMON_IDLE)
			return false;
		release_job(jobs, n);
		return true;
	}
	if (slot->phase == SLOT_FREE && job->daemon_state == GSD_DAEMON_IDLE)
	{
		open_job(jobs, n);
		return true;
	}
	if (slot->phase == SLOT_OPEN)
	{
		feed_job(jobs, n);
		if (state == GSD_BACKEND_RUN)
		{
			const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->pool, n);

			slot->phase = SLOT_READY;
			gsd_queue_enter(&jobs->queue, n, descriptor != NULL ? descriptor->nrows : 0);
			return true;
		}
	}
	return false;
}

static void
look_at_jobs(gsd_jobs *jobs)
{
	bool		changed;

	do
	{
		changed = false;
		for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
			changed |= look_at_job(jobs, n);
	} while (changed);
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

/* Do wrong what was asked for, if now is the time. */
static void
act_up(gsd_jobs *jobs, gsd_fault crash, gsd_fault stop)
{
	gsd_fault	fault = jobs->fault;

	if (jobs->runs != jobs->fault_at || (fault != crash && fault != stop))
		return;
	jobs->fault = GSD_FAULT_NONE;
	raise(fault == crash ? SIGSEGV : SIGSTOP);
}

/* Tell the backend that there is something new, but not all the time. */
static void
tell_backend(gsd_jobs *jobs, unsigned n)
{
	if (now_ms() - jobs->woken_ms < WAKE_INTERVAL_MS)
		return;
	gsd_wake_waiter(pool_job(jobs, n));
	jobs->woken_ms = now_ms();
}

/*
 * Tell the backend of rows that have become ready, the last of them excepted, which
 * DONE will tell of if nothing is to follow.
 */
static void
publish_rows(gsd_jobs *jobs, unsigned n, uint64_t before, uint64_t ready)
{
	gsd_job    *job = pool_job(jobs, n);
	uint64_t	step = jobs->step_rows > 0 ? jobs->step_rows : ready;

	while (before < ready)
	{
		before = ready - before > step ? before + step : ready;
		job->ready_rows = before;
		if (before == jobs->arguments.args.nrows)
		{
			if (jobs->arguments.reorder)
				gsd_wake_waiter(job);
			return;
		}
		tell_backend(jobs, n);
		act_up(jobs, GSD_FAULT_CRASH_LATE, GSD_FAULT_STOP_LATE);
	}
}

/* The same for rows that have been reordered. */
static void
publish_reordered(gsd_jobs *jobs, unsigned n, uint64_t before, uint64_t ready)
{
	gsd_job    *job = pool_job(jobs, n);
	uint64_t	step = jobs->step_rows > 0 ? jobs->step_rows : ready;

	while (before < ready)
	{
		before = ready - before > step ? before + step : ready;
		job->reordered_rows = before;
		tell_backend(jobs, n);
		act_up(jobs, GSD_FAULT_CRASH_REORDER, GSD_FAULT_STOP_REORDER);
	}
}

/* See the sort through to its last row. */
static gs_status
wait_for_rows(gsd_jobs *jobs, unsigned n, const char **message)
{
	uint64_t	ready = 0;

	while (ready < jobs->arguments.args.nrows)
	{
		uint64_t	before = ready;
		gs_status	status = gs_device_wait(jobs->slots[n].job, &ready, message);

		if (status != GS_OK)
			return status;
		publish_rows(jobs, n, before, ready);
		look_at_jobs(jobs);
	}
	return GS_OK;
}

/* Sort; on failure *message says why. */
static gs_status
sort_job(gsd_jobs *jobs, unsigned n, const char **message)
{
	gs_status	status;

	*message = gsd_read_arguments(jobs->pool, n, &jobs->arguments);
	if (*message != NULL)
		return GS_INVALID;
	jobs->runs++;
	act_up(jobs, GSD_FAULT_CRASH, GSD_FAULT_STOP);
	if (jobs->runs == jobs->fault_at && jobs->fault == GSD_FAULT_LOST)
	{
		*message = "a lost device was asked for";
		return GS_DEVICE_LOST;
	}
	status = gs_device_run(jobs->slots[n].job, &jobs->arguments.args, &jobs->result,
						   message);
	if (status != GS_OK)
		return status;
	publish_result(pool_job(jobs, n), &jobs->result);
	return wait_for_rows(jobs, n, message);
}

/*
 * Reorder the rows of a job that is sorted, as far as its backend still wants them.
 * If it does not work out the rows are as they were, and the job is done all the same.
 */
static gs_status
reorder_job(gsd_jobs *jobs, unsigned n)
{
	slot	   *slot = &jobs->slots[n];
	const char *message = "out of memory";
	uint64_t	ready = 0;
	gs_status	status = GS_NO_SPACE;

	if (slot->reorder == NULL)
		slot->reorder = gs_reorder_begin(jobs->group);
	if (slot->reorder != NULL)
		status = gs_reorder_run(slot->reorder, &jobs->arguments.rows, &message);
	while (status == GS_OK && ready < jobs->arguments.args.nrows)
	{
		uint64_t	before = ready;

		status = gs_reorder_wait(slot->reorder, &ready, &message);
		if (status == GS_OK)
			publish_reordered(jobs, n, before, ready);
		look_at_jobs(jobs);
	}
	if (status == GS_DEVICE_ERROR || status == GS_DEVICE_LOST)
		gsd_log("rows could not be reordered: %s", message);
	return status;
}

/* A device has failed: what others have uploaded may be gone. */
static void
feed_all_again(gsd_jobs *jobs)
{
	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
	{
		slot	   *slot = &jobs->slots[n];

		gs_reorder_end(slot->reorder);
		slot->reorder = NULL;
		slot->fed_extents = 0;
		if (slot->job == NULL)
			continue;
		for (unsigned plane = 0; plane < slot->nplanes; plane++)
			gs_device_unfeed(slot->job, plane);
		memset(slot->fed_segments, 0, sizeof(slot->fed_segments));
	}
}

static void
run_job(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];
	double		begin_ms = now_ms();
	const char *message = NULL;
	gs_status	reordered = GS_OK;
	gs_status	status;

	slot->phase = SLOT_RUNNING;
	job->daemon_state = GSD_DAEMON_RUNNING;
	status = sort_job(jobs, n, &message);
	if (status == GS_OK)
	{
		job->result.device_ms = now_ms() - begin_ms;
		end_device_job(jobs, slot);
		if (jobs->arguments.reorder)
		{
			reordered = reorder_job(jobs, n);
			job->result.reorder_ms = now_ms() - begin_ms - job->result.device_ms;
		}
		empty_slot(jobs, slot);
		jobs->service->jobs_done++;
		jobs->service->rows_sorted += jobs->arguments.args.nrows;
		slot->phase = SLOT_ANSWERED;
		job->daemon_state = GSD_DAEMON_DONE;
		gsd_wake_waiter(job);
	}
	else if (job->backend_state == GSD_BACKEND_CLOSED)
		slot->phase = SLOT_READY;	/* counted as cancelled when it is released */
	else
		fail_job(jobs, n, failure_of(status), message != NULL ? message : gs_status_text(status));
	empty_slot(jobs, slot);
	gsd_free_arguments(&jobs->arguments);
	if (status == GS_DEVICE_ERROR || status == GS_DEVICE_WRONG || reordered == GS_DEVICE_ERROR)
		feed_all_again(jobs);
	if (status == GS_DEVICE_LOST || reordered == GS_DEVICE_LOST)
		jobs->end = GSD_EXIT_DEVICE_LOST;
	else if (status == GS_DEVICE_WRONG && ++jobs->wrong_runs == MAX_WRONG_RUNS)
		jobs->end = GSD_EXIT_DEVICE_WRONG;
}

/* Devices can't be used any more: all jobs go back to where they came from. */
static void
fail_all_jobs(gsd_jobs *jobs)
{
	const char *why = jobs->end == GSD_EXIT_DEVICE_LOST ? "a device is lost"
		: "devices have sorted wrongly";

	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].phase == SLOT_OPEN || jobs->slots[n].phase == SLOT_READY)
			fail_job(jobs, n, GSD_FAILURE_DEVICE, why);
}

gsd_exit
gsd_jobs_serve(gsd_jobs *jobs)
{
	int			n;

	for (;;)
	{
		look_at_jobs(jobs);
		n = gsd_queue_take(&jobs->queue);
		if (n < 0)
			return GSD_EXIT_ASKED;
		run_job(jobs, n);
		if (jobs->end != GSD_EXIT_ASKED)
		{
			fail_all_jobs(jobs);
			return jobs->end;
		}
	}
}
