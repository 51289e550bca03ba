/*
 * daemon_jobs.c
 *		Serving the jobs of the pool.
 *
 * Any number of jobs may be open, since collecting rows takes seconds.  Who sorts them are
 * threads, each with devices that only it uses:
 *
 *	the dispatcher	opens jobs, finds out whether they are small or large, and lets go of
 *					them; it has no device, and never waits for one
 *	the main sorter has all devices.  A job that has become too large for a lane is its: it
 *					uploads what the job feeds, also between the steps of another one's
 *					sort, and sorts one at a time
 *	lanes			a few for each device, with a part of its memory each
 *					(gs_device.h).  Each sorts one small job at a time, from its upload on
 *
 * So small jobs are sorted beside each other and beside a large one.  Most of what they
 * take is spent waiting, for kernels to start and for transfers to come in, and one's waiting
 * is another one's time.  For a large job it is the devices and links that take their time, so
 * nothing is gained by having two of them at once.
 *
 * Whoever owns a slot may touch it, nobody else, and ownership is all that threads need to
 * agree on.  The dispatcher owns slots that nobody else does; what it does is found in
 * look_at_job(), and what the main sorter does with its own as well.
 *
 * While a large job is sorted, lanes take on no more than so many times its rows
 * (GSD_QUEUE_PATIENCE), so that it can't be held up for ever on devices that it shares.
 *
 * The handshake with the backends is described in gsd_pool.h.  A job that this
 * daemon has not opened itself but that is not IDLE was left behind by an earlier
 * daemon; its backend knows already, and it becomes IDLE when that has closed it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/daemon_jobs.h"
#include "daemon/daemon_lanes.h"
#include "daemon/daemon_log.h"
#include "daemon/daemon_queue.h"
#include "daemon/daemon_sort.h"
#include "daemon/daemon_text.h"
#include "daemon/daemon_thread.h"
#include "protocol/gsd_wake.h"

/* Devices are not used any more when they have sorted wrongly so many times. */
#define MAX_WRONG_RUNS	2

/* How long others may take to fail their jobs when nothing goes on any more. */
#define END_WAIT_MS		1000

#define NOBODY			(-1)

/* A slot of the pool's jobs, as the daemon sees it. */
typedef enum slot_phase
{
	SLOT_FREE,
	SLOT_OPEN,					/* rows are coming */
	SLOT_READY,					/* waits for its turn */
	SLOT_RUNNING,
	SLOT_ANSWERED				/* DONE or FAILED; waits to be closed */
} slot_phase;

typedef struct worker worker;

typedef struct slot
{
	worker	   *_Atomic owner;	/* NULL: the dispatcher; all that follows is the owner's */
	slot_phase	phase;
	bool		large;			/* lanes have no room for it */
	bool		text;			/* nothing is to be sorted */
	gsd_work	work;
} slot;

/* A thread that sorts. */
struct worker
{
	gsd_jobs   *jobs;
	gsd_thread	thread;
	gsd_sorter	sorter;
	_Atomic int job;			/* of a lane: that it is to sort; or NOBODY's */
	gsd_queue	queue;			/* of the main sorter: its slots that are ready */
};

struct gsd_jobs
{
	gsd_common	common;
	gsd_service *service;
	_Atomic unsigned wrong_runs;	/* that devices sorted wrongly */
	_Atomic gsd_exit end;		/* why nothing goes on; GSD_EXIT_ASKED: it does */

	slot		slots[GSD_MAX_JOBS];
	worker		main;
	_Atomic uint64_t main_rows; /* of the job that it sorts; 0: none */
	_Atomic uint64_t main_runs; /* that it has begun */

	/* the dispatcher's */
	gsd_lanes	lanes;
	worker	   *lane_workers;	/* lanes.count of them */
	gsd_queue	queue;			/* of small jobs that are ready */
	uint64_t	passed_run;		/* the run of the main sorter that ... */
	uint64_t	passed_rows;	/* so many rows have gone to lanes during */
};

static gsd_job *
pool_job(gsd_jobs *jobs, unsigned n)
{
	return &jobs->common.pool->header->jobs[n];
}

/* The queue that an owner's jobs wait in. */
static gsd_queue *
queue_of(gsd_jobs *jobs, worker *me)
{
	return me == NULL ? &jobs->queue : &me->queue;
}

/* Have nothing on devices any more. */
static void
empty_slot(worker *me, slot *slot)
{
	if (me != NULL)
		gsd_work_end(&me->sorter, &slot->work);
}

/* Let another thread have a slot, NULL: the dispatcher. */
static void
hand_slot(gsd_jobs *jobs, unsigned n, worker *owner)
{
	jobs->slots[n].owner = owner;
	if (owner != NULL)
		gsd_thread_tell(&owner->thread);
	else
		gsd_ring(jobs->common.pool->header);
}

/* Give a slot back to the dispatcher, whoever has it. */
static void
give_back(gsd_jobs *jobs, worker *me, unsigned n)
{
	if (me != NULL)
		hand_slot(jobs, n, NULL);
}

/* Answer a job with a failure. */
static void
fail_job(gsd_jobs *jobs, worker *me, unsigned n, gsd_failure failure, const char *message)
{
	gsd_job    *job = pool_job(jobs, n);

	snprintf(job->message, sizeof(job->message), "%s", message);
	job->failure = failure;
	empty_slot(me, &jobs->slots[n]);
	gsd_queue_leave(queue_of(jobs, me), n);
	jobs->slots[n].phase = SLOT_ANSWERED;
	if (failure == GSD_FAILURE_DEVICE)
		gsd_log("a sort has failed: %s", job->message);
	jobs->service->jobs_failed++;
	job->daemon_state = GSD_DAEMON_FAILED;
	gsd_wake_waiter(job);
	give_back(jobs, me, n);
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

	memset(&slot->work, 0, sizeof(slot->work));
	slot->phase = SLOT_OPEN;
	slot->large = false;
	descriptor = gsd_job_descriptor(jobs->common.pool, n);
	slot->text = descriptor != NULL && descriptor->kind == GSD_JOB_TEXT;
	slot->work.nplanes = descriptor != NULL && !slot->text ? descriptor->nplanes : 0;
	if (slot->text)
		slot->large = jobs->lanes.count == 0;
	else if (slot->work.nplanes == 0 || slot->work.nplanes > GS_MAX_PLANES)
		fail_job(jobs, NULL, n, GSD_FAILURE_JOB, "the job's descriptor is not valid");
}

/* The backend has closed the job, or an earlier daemon has left it. */
static void
release_job(gsd_jobs *jobs, worker *me, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];

	if (slot->phase == SLOT_OPEN || slot->phase == SLOT_READY)
		jobs->service->jobs_cancelled++;
	empty_slot(me, slot);
	gsd_queue_leave(queue_of(jobs, me), n);
	slot->phase = SLOT_FREE;
	gsd_let_go(job);
	if (job->abandoned)
		gsd_wake_supervisor(jobs->common.pool->header);
	give_back(jobs, me, n);
}

/* Is a job too large for a lane, as far as it is known? */
static bool
is_large(gsd_jobs *jobs, unsigned n, bool all_known)
{
	slot	   *slot = &jobs->slots[n];
	const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->common.pool, n);
	gsd_lane_needs needs = {.nplanes = slot->work.nplanes};

	if (slot->large || slot->text || descriptor == NULL)
		return slot->large;
	for (unsigned plane = 0; plane < slot->work.nplanes; plane++)
		if (descriptor->fed_rows[plane] > needs.nrows)
			needs.nrows = descriptor->fed_rows[plane];
	needs.row_bytes = descriptor->fed_row_bytes;
	if (all_known)
	{
		needs.nrows = descriptor->nrows;
		needs.row_bytes = descriptor->rows.rows.count > 0 ? descriptor->rows.row_bytes : 0;
	}
	slot->large = !gsd_lanes_fit(&jobs->lanes, &needs);
	return slot->large;
}

/* See to one job that is one's own, NULL: the dispatcher's; true if its state has changed. */
static bool
look_at_job(gsd_jobs *jobs, worker *me, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];
	uint32_t	state;
	bool		wanted;

	if (slot->owner != me || slot->phase == SLOT_RUNNING)
		return false;
	state = job->backend_state;
	wanted = state == GSD_BACKEND_OPEN || state == GSD_BACKEND_RUN;
	if (!wanted)
	{
		if (job->daemon_state == GSD_DAEMON_IDLE)
			return false;
		release_job(jobs, me, n);
		return true;
	}
	if (slot->phase == SLOT_FREE && job->daemon_state == GSD_DAEMON_IDLE)
	{
		open_job(jobs, n);
		return true;
	}
	if (slot->phase != SLOT_OPEN)
		return false;
	if (me == NULL && is_large(jobs, n, state == GSD_BACKEND_RUN))
	{
		hand_slot(jobs, n, &jobs->main);
		return true;
	}
	if (me != NULL)
		gsd_work_feed(&me->sorter, &slot->work, n);
	if (state == GSD_BACKEND_RUN)
	{
		const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->common.pool, n);

		slot->phase = SLOT_READY;
		gsd_queue_enter(queue_of(jobs, me), n, descriptor != NULL ? descriptor->nrows : 0);
		return true;
	}
	return false;
}

static void
look_at_jobs(gsd_jobs *jobs, worker *me)
{
	bool		changed;

	do
	{
		changed = false;
		for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
			changed |= look_at_job(jobs, me, n);
	} while (changed);
}

/* Between the steps of a job of the main sorter. */
static void
look_at_own_jobs(void *arg)
{
	worker	   *me = arg;

	look_at_jobs(me->jobs, me);
}

/* A device of the main sorter has failed: what others have uploaded may be gone. */
static void
feed_all_again(gsd_jobs *jobs, worker *me)
{
	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].owner == me)
			gsd_work_feed_again(&jobs->slots[n].work);
}

/* Draw the consequences, for everybody, of what has become of a run. */
static void
judge_devices(gsd_jobs *jobs, worker *me, gs_status sorted, gs_status reordered)
{
	if (sorted == GS_DEVICE_ERROR || sorted == GS_DEVICE_WRONG || reordered == GS_DEVICE_ERROR)
		feed_all_again(jobs, me);
	if (sorted == GS_DEVICE_LOST || reordered == GS_DEVICE_LOST)
		jobs->end = GSD_EXIT_DEVICE_LOST;
	else if (sorted == GS_DEVICE_WRONG && ++jobs->wrong_runs == MAX_WRONG_RUNS)
		jobs->end = GSD_EXIT_DEVICE_WRONG;
}

/* Have a job sorted by all devices that a lane had no room for. */
static void
hand_to_main(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];

	slot->large = true;
	slot->phase = SLOT_OPEN;
	job->daemon_state = GSD_DAEMON_OPENED;
	hand_slot(jobs, n, &jobs->main);
}

/* Sort a job of one's own; then it is the dispatcher's, or the main sorter's. */
static void
run_job(gsd_jobs *jobs, worker *me, unsigned n)
{
	gsd_job    *job = pool_job(jobs, n);
	slot	   *slot = &jobs->slots[n];
	const char *message = NULL;
	gs_status	reordered = GS_OK;
	gs_status	status;

	slot->phase = SLOT_RUNNING;
	job->daemon_state = GSD_DAEMON_RUNNING;
	if (slot->text)
		status = gsd_text_find(&me->sorter, n, &message);
	else
		status = gsd_work_sort(&me->sorter, &slot->work, n, &message);
	if (status == GS_OK && !slot->text)
	{
		reordered = gsd_work_reorder(&me->sorter, &slot->work, n);
		jobs->service->rows_sorted += me->sorter.arguments.args.nrows;
	}
	if (status == GS_OK)
	{
		empty_slot(me, slot);
		jobs->service->jobs_done++;
		slot->phase = SLOT_ANSWERED;
		job->daemon_state = GSD_DAEMON_DONE;
		gsd_wake_waiter(job);
		give_back(jobs, me, n);
	}
	else if (job->backend_state == GSD_BACKEND_CLOSED)
	{
		empty_slot(me, slot);
		slot->phase = SLOT_READY;	/* counted as cancelled when it is released */
		give_back(jobs, me, n);
	}
	else if (status == GS_NO_SPACE && me != &jobs->main)
	{
		empty_slot(me, slot);
		hand_to_main(jobs, n);
	}
	else
		fail_job(jobs, me, n, failure_of(status), message != NULL ? message : gs_status_text(status));
	gsd_sorter_forget(&me->sorter);
	judge_devices(jobs, me, status, reordered);
}

/* Devices can't be used any more: one's own jobs go back to where they came from. */
static void
fail_own_jobs(gsd_jobs *jobs, worker *me)
{
	const char *why = jobs->end == GSD_EXIT_DEVICE_LOST ? "a device is lost"
		: "devices have sorted wrongly";

	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].owner == me &&
			(jobs->slots[n].phase == SLOT_OPEN || jobs->slots[n].phase == SLOT_READY))
			fail_job(jobs, me, n, GSD_FAILURE_DEVICE, why);
}

static void *
sort_large_jobs(void *arg)
{
	worker	   *me = arg;
	gsd_jobs   *jobs = me->jobs;
	uint64_t	told;
	int			n;

	do
	{
		told = gsd_thread_told(&me->thread);
		look_at_jobs(jobs, me);
		while (jobs->end == GSD_EXIT_ASKED && (n = gsd_queue_take(&me->queue)) >= 0)
		{
			const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->common.pool, (unsigned) n);

			jobs->main_runs++;
			jobs->main_rows = descriptor != NULL ? descriptor->nrows : 0;
			run_job(jobs, me, (unsigned) n);
			jobs->main_rows = 0;
			look_at_jobs(jobs, me);
			/* small ones may have been held back for it */
			gsd_ring(jobs->common.pool->header);
		}
		if (jobs->end != GSD_EXIT_ASKED)
			fail_own_jobs(jobs, me);
	} while (gsd_thread_sleep(&me->thread, told));
	return NULL;
}

static void *
sort_small_jobs(void *arg)
{
	worker	   *me = arg;
	gsd_jobs   *jobs = me->jobs;
	uint64_t	told;

	do
	{
		told = gsd_thread_told(&me->thread);
		if (me->job != NOBODY)
		{
			run_job(jobs, me, (unsigned) me->job);
			me->job = NOBODY;
			gsd_ring(jobs->common.pool->header);
		}
	} while (gsd_thread_sleep(&me->thread, told));
	return NULL;
}

/* A lane that has nothing to do, on the device where most lanes have nothing to do; or NULL. */
static worker *
idle_lane(gsd_jobs *jobs)
{
	unsigned	idle[GS_MAX_DEVICES] = {0};
	worker	   *best = NULL;

	for (unsigned i = 0; i < jobs->lanes.count; i++)
		if (jobs->lane_workers[i].job == NOBODY)
			idle[jobs->lanes.lanes[i].of]++;
	for (unsigned i = 0; i < jobs->lanes.count; i++)
		if (jobs->lane_workers[i].job == NOBODY &&
			(best == NULL || idle[jobs->lanes.lanes[i].of] >
			 idle[jobs->lanes.lanes[best - jobs->lane_workers].of]))
			best = &jobs->lane_workers[i];
	return best;
}

/* Have as many small rows gone to lanes as may while a large job is sorted? */
static bool
must_hold_back(gsd_jobs *jobs)
{
	uint64_t	run = jobs->main_runs;
	uint64_t	rows = jobs->main_rows;

	if (run != jobs->passed_run)
	{
		jobs->passed_run = run;
		jobs->passed_rows = 0;
	}
	return rows > 0 && jobs->passed_rows / GSD_QUEUE_PATIENCE >= rows;
}

/* Let lanes have small jobs that are ready. */
static void
hand_out_small_jobs(gsd_jobs *jobs)
{
	worker	   *lane;
	uint64_t	before;
	int			n;

	while (!must_hold_back(jobs) && (lane = idle_lane(jobs)) != NULL)
	{
		before = jobs->queue.sorted_rows;
		n = gsd_queue_take(&jobs->queue);
		if (n < 0)
			return;
		jobs->passed_rows += jobs->queue.sorted_rows - before;
		jobs->slots[n].phase = SLOT_RUNNING;
		jobs->slots[n].owner = lane;
		lane->job = n;
		gsd_thread_tell(&lane->thread);
	}
}

/* The main sorter looks after its jobs itself, when it is told. */
static void
tell_main(gsd_jobs *jobs)
{
	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].owner == &jobs->main)
		{
			gsd_thread_tell(&jobs->main.thread);
			return;
		}
}

/* Wait, but not for long, until the others have failed their jobs. */
static void
await_end(gsd_jobs *jobs)
{
	const struct timespec pause = {0, 1000000};
	bool		owned = true;

	gsd_thread_tell(&jobs->main.thread);
	for (int ms = 0; owned && ms < END_WAIT_MS; ms++)
	{
		owned = false;
		for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
			owned |= jobs->slots[n].owner != NULL;
		if (owned)
			nanosleep(&pause, NULL);
	}
}

gsd_exit
gsd_jobs_serve(gsd_jobs *jobs)
{
	look_at_jobs(jobs, NULL);
	if (jobs->end == GSD_EXIT_ASKED)
	{
		hand_out_small_jobs(jobs);
		tell_main(jobs);
		return GSD_EXIT_ASKED;
	}
	fail_own_jobs(jobs, NULL);
	await_end(jobs);
	fail_own_jobs(jobs, NULL);
	return jobs->end;
}

gsd_exit
gsd_jobs_settle(gsd_jobs *jobs)
{
	gsd_header *header = jobs->common.pool->header;
	uint32_t	rings;

	do
	{
		gsd_exit	end;

		rings = header->rings;
		end = gsd_jobs_serve(jobs);
		if (end != GSD_EXIT_ASKED)
			return end;
		gsd_thread_settle(&jobs->main.thread);
		for (unsigned i = 0; i < jobs->lanes.count; i++)
			gsd_thread_settle(&jobs->lane_workers[i].thread);
	} while (header->rings != rings);
	return GSD_EXIT_ASKED;
}

/* Have a thread sort on a group. */
static bool
start_worker(gsd_jobs *jobs, worker *worker, const gs_group *group, void *(*body) (void *))
{
	worker->jobs = jobs;
	worker->job = NOBODY;
	worker->sorter.group = *group;
	gsd_sorter_begin(&worker->sorter, &jobs->common);
	return gsd_thread_start(&worker->thread, body, worker);
}

/* End the first so many lanes' threads, and free everything. */
static void
free_jobs(gsd_jobs *jobs, unsigned nlanes)
{
	for (unsigned i = 0; i < nlanes; i++)
		gsd_thread_end(&jobs->lane_workers[i].thread);
	gsd_lanes_close(&jobs->lanes);
	free(jobs->lane_workers);
	free(jobs);
}

gsd_jobs *
gsd_jobs_begin(gsd_pool *pool, gs_group *group, const gsd_options *options)
{
	gsd_jobs   *jobs = calloc(1, sizeof(*jobs));

	if (jobs == NULL)
		return NULL;
	jobs->common.pool = pool;
	jobs->common.step_rows = options->step_rows;
	jobs->common.fault = options->fault;
	jobs->common.fault_at = options->fault_at;
	jobs->service = &pool->header->service;
	jobs->end = GSD_EXIT_ASKED;
	gsd_lanes_open(&jobs->lanes, group, options->lanes);
	jobs->lane_workers = calloc(jobs->lanes.count + 1, sizeof(*jobs->lane_workers));
	if (jobs->lane_workers == NULL)
	{
		free_jobs(jobs, 0);
		return NULL;
	}
	for (unsigned i = 0; i < jobs->lanes.count; i++)
		if (!start_worker(jobs, &jobs->lane_workers[i], &jobs->lanes.lanes[i].group,
						  sort_small_jobs))
		{
			free_jobs(jobs, i);
			return NULL;
		}
	jobs->main.sorter.between = look_at_own_jobs;
	jobs->main.sorter.arg = &jobs->main;
	if (!start_worker(jobs, &jobs->main, group, sort_large_jobs))
	{
		free_jobs(jobs, jobs->lanes.count);
		return NULL;
	}
	return jobs;
}

void
gsd_jobs_end(gsd_jobs *jobs)
{
	gsd_thread_end(&jobs->main.thread);
	free_jobs(jobs, jobs->lanes.count);
}
