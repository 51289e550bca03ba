/*
 * daemon_jobs.c
 *		Serving the jobs of the pool.
 *
 * Any number of jobs may be open, since collecting rows takes seconds.  They are served by threads,
 * each of which has devices that only it uses:
 *
 *	the dispatcher	opens jobs, finds out whether they are small or large, and lets go of
 *					them; it has no device, and never waits for one
 *	the main sorter	has all devices.  A job that turns out too large for a lane belongs to
 *					it: the main sorter uploads what the job feeds, also between the steps
 *					of another job's sort, and sorts one job at a time
 *	lanes			are a few for each device, with a part of its memory each
 *					(gs_device.h).  Each sorts one small job at a time, and uploads its
 *					rows as well
 *
 * So small jobs are sorted beside each other and beside a large one.  Most of the time that a small
 * job takes is spent waiting for kernels to start and for transfers to come in, and while one job
 * waits another one can be sorted.  The time of a large job is that of devices and links, so
 * nothing is gained by sorting two of them at once.
 *
 * Only the thread that owns a slot (gsd_slot) may touch it, and ownership is all that threads need
 * to agree on.  The dispatcher owns all slots that no other thread does.  What the dispatcher does
 * with its slots is in gsd_slots_look(), and what the main sorter does with its own as well.
 *
 * While a large job is sorted, lanes take on no more rows than GSD_QUEUE_PATIENCE times as many as
 * it has, so that it can't be held up for ever on devices that it shares with them.
 */
#include <stdlib.h>
#include <time.h>

#include "daemon/daemon_jobs.h"

/* How long the other threads may take to fail their jobs when devices can't be used any more. */
#define END_WAIT_MS		1000

/* Returns an idle lane, on the device with the most idle lanes, or NULL if all are busy. */
static gsd_worker *
idle_lane(gsd_jobs *jobs)
{
	unsigned	idle[GS_MAX_DEVICES] = {0};
	gsd_worker *best = NULL;

	for (unsigned i = 0; i < jobs->lanes.count; i++)
		if (jobs->lane_workers[i].job == GSD_NOBODY)
			idle[jobs->lanes.lanes[i].of]++;
	for (unsigned i = 0; i < jobs->lanes.count; i++)
		if (jobs->lane_workers[i].job == GSD_NOBODY &&
			(best == NULL || idle[jobs->lanes.lanes[i].of] >
			 idle[jobs->lanes.lanes[best - jobs->lane_workers].of]))
			best = &jobs->lane_workers[i];
	return best;
}

/*
 * Returns whether as many rows of small jobs have gone to lanes as may while a large job is sorted.
 */
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

/* Gives small jobs that are ready to idle lanes. */
static void
hand_out_small_jobs(gsd_jobs *jobs)
{
	gsd_worker *lane;
	uint64_t	before;
	int			n;

	while (!must_hold_back(jobs) && (lane = idle_lane(jobs)) != NULL)
	{
		before = jobs->queue.sorted_rows;
		n = gsd_queue_take(&jobs->queue);
		if (n < 0)
			return;
		jobs->passed_rows += jobs->queue.sorted_rows - before;
		jobs->slots[n].phase = GSD_SLOT_RUNNING;
		jobs->slots[n].owner = lane;
		lane->job = n;
		gsd_thread_tell(&lane->thread);
	}
}

/* Wakes the main sorter if it owns any job: it looks after its jobs itself. */
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

/* Waits, at most END_WAIT_MS, until the other threads have failed their jobs. */
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
	gsd_slots_look(jobs, NULL);
	if (jobs->end == GSD_EXIT_ASKED)
	{
		hand_out_small_jobs(jobs);
		tell_main(jobs);
		return GSD_EXIT_ASKED;
	}
	gsd_slots_fail(jobs, NULL);
	await_end(jobs);
	gsd_slots_fail(jobs, NULL);
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

/* Ends the threads of the first nlanes lanes, and frees everything. */
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
		if (!gsd_start_lane(jobs, i))
		{
			free_jobs(jobs, i);
			return NULL;
		}
	if (!gsd_start_main(jobs, group))
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
