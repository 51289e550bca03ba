/*
 * daemon_worker.c
 *		The threads that sort: the main sorter and lanes.
 */
#include <stddef.h>

#include "daemon/daemon_jobs.h"
#include "protocol/gsd_wake.h"

/* Devices that have sorted wrongly so many times are not used any more. */
#define MAX_WRONG_RUNS	2

/* Looks after the main sorter's other jobs, between the steps of the one that it sorts. */
static void
look_at_own_jobs(void *arg)
{
	gsd_worker *me = arg;

	gsd_slots_look(me->jobs, me);
}

/*
 * Has all jobs of a thread fed again, after a device has failed: what they have uploaded may be
 * gone.
 */
static void
feed_all_again(gsd_jobs *jobs, gsd_worker *me)
{
	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].owner == me)
			gsd_work_feed_again(&jobs->slots[n].work);
}

/* Does what follows, for all threads, from what has become of a run. */
static void
note_device_failures(gsd_jobs *jobs, gsd_worker *me, gs_status sorted, gs_status reordered)
{
	if (sorted == GS_DEVICE_ERROR || sorted == GS_DEVICE_WRONG || reordered == GS_DEVICE_ERROR)
		feed_all_again(jobs, me);
	if (sorted == GS_DEVICE_LOST || reordered == GS_DEVICE_LOST)
		jobs->end = GSD_EXIT_DEVICE_LOST;
	else if (sorted == GS_DEVICE_WRONG && ++jobs->wrong_runs == MAX_WRONG_RUNS)
		jobs->end = GSD_EXIT_DEVICE_WRONG;
}

/* Hands a job that a lane turned out to have no room for to the main sorter. */
static void
hand_to_main(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = gsd_slot_job(jobs, n);
	gsd_slot   *slot = &jobs->slots[n];

	slot->large = true;
	slot->phase = GSD_SLOT_OPEN;
	job->daemon_state = GSD_DAEMON_OPENED;
	gsd_slot_hand(jobs, n, &jobs->main);
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

/*
 * Runs job n, whose slot the thread owns, and answers it.  Then the slot is the dispatcher's, or
 * the main sorter's if a lane had no room for the job.
 */
static void
run_job(gsd_jobs *jobs, gsd_worker *me, unsigned n)
{
	gsd_job    *job = gsd_slot_job(jobs, n);
	gsd_slot   *slot = &jobs->slots[n];
	const char *message = NULL;
	gs_status	reordered = GS_OK;
	gs_status	status;

	slot->phase = GSD_SLOT_RUNNING;
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
	/* before the answer: a session that has it may ask for more, of devices that are lost */
	note_device_failures(jobs, me, status, reordered);
	if (status == GS_OK)
	{
		gsd_slot_empty(me, slot);
		jobs->service->jobs_done++;
		slot->phase = GSD_SLOT_ANSWERED;
		job->daemon_state = GSD_DAEMON_DONE;
		gsd_wake_waiter(job);
		gsd_slot_give_back(jobs, me, n);
	}
	else if (job->backend_state == GSD_BACKEND_CLOSED)
	{
		gsd_slot_empty(me, slot);
		slot->phase = GSD_SLOT_READY;	/* so that it is counted as cancelled when it is released */
		gsd_slot_give_back(jobs, me, n);
	}
	else if (status == GS_NO_SPACE && me != &jobs->main)
	{
		gsd_slot_empty(me, slot);
		hand_to_main(jobs, n);
	}
	else
		gsd_slot_fail(jobs, me, n, failure_of(status),
					  message != NULL ? message : gs_status_text(status));
	gsd_sorter_forget(&me->sorter);
}

static void *
sort_large_jobs(void *arg)
{
	gsd_worker *me = arg;
	gsd_jobs   *jobs = me->jobs;
	uint64_t	told;
	int			n;

	do
	{
		told = gsd_thread_told(&me->thread);
		gsd_slots_look(jobs, me);
		while (jobs->end == GSD_EXIT_ASKED && (n = gsd_queue_take(&me->queue)) >= 0)
		{
			const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->common.pool, (unsigned) n);

			jobs->main_runs++;
			jobs->main_rows = descriptor != NULL ? descriptor->nrows : 0;
			run_job(jobs, me, (unsigned) n);
			jobs->main_rows = 0;
			gsd_slots_look(jobs, me);
			/* small jobs may have been held back because of this one */
			gsd_ring(jobs->common.pool->header);
		}
		if (jobs->end != GSD_EXIT_ASKED)
			gsd_slots_fail(jobs, me);
	} while (gsd_thread_sleep(&me->thread, told));
	return NULL;
}

static void *
sort_small_jobs(void *arg)
{
	gsd_worker *me = arg;
	gsd_jobs   *jobs = me->jobs;
	uint64_t	told;

	do
	{
		told = gsd_thread_told(&me->thread);
		if (me->job != GSD_NOBODY)
		{
			run_job(jobs, me, (unsigned) me->job);
			me->job = GSD_NOBODY;
			gsd_ring(jobs->common.pool->header);
		}
	} while (gsd_thread_sleep(&me->thread, told));
	return NULL;
}

/* Starts a thread that sorts on a group of devices. */
static bool
start_worker(gsd_jobs *jobs, gsd_worker *worker, const gs_group *group, void *(*body) (void *))
{
	worker->jobs = jobs;
	worker->job = GSD_NOBODY;
	worker->sorter.group = *group;
	gsd_sorter_begin(&worker->sorter, &jobs->common);
	return gsd_thread_start(&worker->thread, body, worker);
}

bool
gsd_start_lane(gsd_jobs *jobs, unsigned lane)
{
	return start_worker(jobs, &jobs->lane_workers[lane], &jobs->lanes.lanes[lane].group,
						sort_small_jobs);
}

bool
gsd_start_main(gsd_jobs *jobs, const gs_group *group)
{
	jobs->main.sorter.between = look_at_own_jobs;
	jobs->main.sorter.arg = &jobs->main;
	return start_worker(jobs, &jobs->main, group, sort_large_jobs);
}
