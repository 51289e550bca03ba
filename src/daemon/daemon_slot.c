/*
 * daemon_slot.c
 *		Slots of the pool's jobs: opening, handing on, answering and releasing the jobs.
 *
 * The handshake with the backends is described in gsd_pool.h.  A job that is not IDLE although this
 * daemon has not opened it was left behind by an earlier daemon.  Its backend knows that already,
 * and the job becomes IDLE when the backend has closed it.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/daemon_jobs.h"
#include "protocol/gsd_wake.h"

gsd_job *
gsd_slot_job(gsd_jobs *jobs, unsigned n)
{
	return &jobs->common.pool->header->jobs[n];
}

/* Returns the queue that an owner's jobs wait in. */
static gsd_queue *
queue_of(gsd_jobs *jobs, gsd_worker *me)
{
	return me == NULL ? &jobs->queue : &me->queue;
}

void
gsd_slot_empty(gsd_worker *me, gsd_slot *slot)
{
	if (me != NULL)
		gsd_work_end(&me->sorter, &slot->work);
}

void
gsd_slot_hand(gsd_jobs *jobs, unsigned n, gsd_worker *owner)
{
	jobs->slots[n].owner = owner;
	if (owner != NULL)
		gsd_thread_tell(&owner->thread);
	else
		gsd_ring(jobs->common.pool->header);
}

void
gsd_slot_give_back(gsd_jobs *jobs, gsd_worker *me, unsigned n)
{
	if (me != NULL)
		gsd_slot_hand(jobs, n, NULL);
}

void
gsd_slot_fail(gsd_jobs *jobs, gsd_worker *me, unsigned n, gsd_failure failure, const char *message)
{
	gsd_job    *job = gsd_slot_job(jobs, n);

	snprintf(job->message, sizeof(job->message), "%s", message);
	job->failure = failure;
	gsd_slot_empty(me, &jobs->slots[n]);
	gsd_queue_leave(queue_of(jobs, me), n);
	jobs->slots[n].phase = GSD_SLOT_ANSWERED;
	if (failure == GSD_FAILURE_DEVICE)
		gsd_log("a sort has failed: %s", job->message);
	jobs->service->jobs_failed++;
	job->daemon_state = GSD_DAEMON_FAILED;
	gsd_wake_waiter(job);
	gsd_slot_give_back(jobs, me, n);
}

/* Opens a job, unless its backend has closed it meanwhile. */
static void
open_job(gsd_jobs *jobs, unsigned n)
{
	gsd_job    *job = gsd_slot_job(jobs, n);
	gsd_slot   *slot = &jobs->slots[n];
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
	slot->phase = GSD_SLOT_OPEN;
	slot->large = false;
	descriptor = gsd_job_descriptor(jobs->common.pool, n);
	slot->text = descriptor != NULL && descriptor->kind == GSD_JOB_TEXT;
	slot->work.nplanes = descriptor != NULL && !slot->text ? descriptor->nplanes : 0;
	if (slot->text)
		slot->large = jobs->lanes.count == 0;
	else if (slot->work.nplanes == 0 || slot->work.nplanes > GS_MAX_PLANES)
		gsd_slot_fail(jobs, NULL, n, GSD_FAILURE_JOB, "the job's descriptor is not valid");
}

/* Releases a job that its backend has closed.  It may be one that an earlier daemon has left. */
static void
release_job(gsd_jobs *jobs, gsd_worker *me, unsigned n)
{
	gsd_job    *job = gsd_slot_job(jobs, n);
	gsd_slot   *slot = &jobs->slots[n];

	if (slot->phase == GSD_SLOT_OPEN || slot->phase == GSD_SLOT_READY)
		jobs->service->jobs_cancelled++;
	gsd_slot_empty(me, slot);
	gsd_queue_leave(queue_of(jobs, me), n);
	slot->phase = GSD_SLOT_FREE;
	gsd_let_go(job);
	if (job->abandoned)
		gsd_wake_supervisor(jobs->common.pool->header);
	gsd_slot_give_back(jobs, me, n);
}

/*
 * Returns whether a job is too large for a lane, as far as is known: all of it, or what was fed so
 * far.
 */
static bool
is_large(gsd_jobs *jobs, unsigned n, bool all_known)
{
	gsd_slot   *slot = &jobs->slots[n];
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

/* Sees to job n, if the thread `me` owns its slot.  Returns whether the job's state has changed. */
static bool
look_at_job(gsd_jobs *jobs, gsd_worker *me, unsigned n)
{
	gsd_job    *job = gsd_slot_job(jobs, n);
	gsd_slot   *slot = &jobs->slots[n];
	uint32_t	state;
	bool		wanted;

	if (slot->owner != me || slot->phase == GSD_SLOT_RUNNING)
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
	if (slot->phase == GSD_SLOT_FREE && job->daemon_state == GSD_DAEMON_IDLE)
	{
		open_job(jobs, n);
		return true;
	}
	if (slot->phase != GSD_SLOT_OPEN)
		return false;
	if (me == NULL && is_large(jobs, n, state == GSD_BACKEND_RUN))
	{
		gsd_slot_hand(jobs, n, &jobs->main);
		return true;
	}
	if (me != NULL)
		gsd_work_feed(&me->sorter, &slot->work, n);
	if (state == GSD_BACKEND_RUN)
	{
		const gsd_descriptor *descriptor = gsd_job_descriptor(jobs->common.pool, n);

		slot->phase = GSD_SLOT_READY;
		gsd_queue_enter(queue_of(jobs, me), n, descriptor != NULL ? descriptor->nrows : 0);
		return true;
	}
	return false;
}

void
gsd_slots_look(gsd_jobs *jobs, gsd_worker *me)
{
	bool		changed;

	do
	{
		changed = false;
		for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
			changed |= look_at_job(jobs, me, n);
	} while (changed);
}

void
gsd_slots_fail(gsd_jobs *jobs, gsd_worker *me)
{
	const char *why = jobs->end == GSD_EXIT_DEVICE_LOST ? "a device is lost"
		: "devices have sorted wrongly";

	for (unsigned n = 0; n < GSD_MAX_JOBS; n++)
		if (jobs->slots[n].owner == me &&
			(jobs->slots[n].phase == GSD_SLOT_OPEN || jobs->slots[n].phase == GSD_SLOT_READY))
			gsd_slot_fail(jobs, me, n, GSD_FAILURE_DEVICE, why);
}
