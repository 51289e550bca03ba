/*
 * lanes_test.c
 *		Small jobs beside each other and beside a large one, in gpusortd.
 *
 * Devices stop where they are to sort, until the test lets them go on.  So it is seen, and not
 * measured, who is sorted at the same time, and who waits for whom.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/daemon_jobs.h"
#include "protocol/gsd_wake.h"
#include "tap.h"

#define DEVICES		2
#define ALL_LANES	(DEVICES * GSD_DEVICE_LANES)
#define PID			4711
#define EXTENTS		256
#define SMALL		1000		/* rows; more are a large job */
#define LARGE		5000
#define PASSING		(GSD_QUEUE_PATIENCE * LARGE / SMALL)
#define WAIT_MS		60000
#define LOOK_MS		60			/* for what must not happen */

static gsd_pool pool;
static gs_group group;
static gsd_jobs *jobs;
static pthread_t daemon_thread;
static _Atomic bool ending;
static _Atomic int ended_with;

/* What devices do when they are to sort. */
static _Atomic bool main_stops;
static _Atomic bool lanes_stop;
static _Atomic unsigned main_stopped;
static _Atomic unsigned lanes_stopped;
static _Atomic unsigned stopped_on[DEVICES];	/* of those */
static _Atomic gs_status lane_status;
static _Atomic bool lanes_are_full;

static const gs_device_ops *real_ops;
static gs_device_ops main_ops;
static gs_device_ops lane_ops;

static void
stop_while(_Atomic bool *stops, _Atomic unsigned *stopped)
{
	++*stopped;
	while (*stops)
		usleep(100);
	--*stopped;
}

static gs_status
sort_on_main(gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
			 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	stop_while(&main_stops, &main_stopped);
	return real_ops->sort(device, queue, pairs, spare, id_bytes, nrows, low_bit, bits, temp, in_spare);
}

static gs_status
sort_on_lane(gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
			 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	stopped_on[device->index]++;
	stop_while(&lanes_stop, &lanes_stopped);
	stopped_on[device->index]--;
	if (lane_status != GS_OK)
		return lane_status;
	return real_ops->sort(device, queue, pairs, spare, id_bytes, nrows, low_bit, bits, temp, in_spare);
}

static void *
alloc_on_lane(gs_device *device, size_t bytes)
{
	return lanes_are_full ? NULL : real_ops->alloc(device, bytes);
}

static gs_device *
open_lane(gs_device *device, size_t bytes)
{
	gs_device  *lane = real_ops->open_lane(device, bytes);

	if (lane != NULL)
		lane->ops = &lane_ops;
	return lane;
}

static void *
play_daemon(void *arg)
{
	while (!ending)
	{
		uint32_t	rings = pool.header->rings;
		gsd_exit	status = gsd_jobs_serve(jobs);

		if (status != GSD_EXIT_ASKED)
		{
			ended_with = status;
			return NULL;
		}
		if (!ending)
			gsd_sleep_until_rung(pool.header, rings);
	}
	return NULL;
}

static void
start(void)
{
	gsd_options options = {
		.engine = GSD_ENGINE_SIMULATED,
		.simulated_devices = DEVICES,
		.memory_bytes = UINT64_C(64) << 20,
		.device_rows = SMALL,
		.lanes = GSD_DEVICE_LANES,
	};
	char		why[200];
	bool		cuda;

	if (gsd_open_devices(&options, &group, &cuda, why, sizeof(why)) != 0)
		abort();
	real_ops = group.devices[0]->ops;
	main_ops = lane_ops = *real_ops;
	main_ops.sort = sort_on_main;
	main_ops.open_lane = open_lane;
	lane_ops.sort = sort_on_lane;
	lane_ops.alloc = alloc_on_lane;
	for (unsigned d = 0; d < DEVICES; d++)
		group.devices[d]->ops = &main_ops;
	jobs = gsd_jobs_begin(&pool, &group, &options);
	if (jobs == NULL)
		abort();
	ending = false;
	ended_with = GSD_EXIT_ASKED;
	pthread_create(&daemon_thread, NULL, play_daemon, NULL);
}

static void
stop(void)
{
	ending = true;
	gsd_ring(pool.header);
	pthread_join(daemon_thread, NULL);
	gsd_jobs_end(jobs);
	gsd_close_devices(&group);
}

static void
make_pool(void)
{
	uint64_t	bytes = gsd_pool_bytes(EXTENTS);

	pool.header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool.header == MAP_FAILED)
		abort();
	gsd_pool_init(pool.header, bytes, false);
}

/* The extents of the job in a slot. */
enum
{
	DESCRIPTOR,
	WORDS,
	IDS,
	JOB_EXTENTS
};

static void *
memory_of(int n, int which)
{
	return gsd_extent(&pool, (uint32_t) (n * JOB_EXTENTS + which));
}

static gsd_job *
job_of(int n)
{
	return &pool.header->jobs[n];
}

/* A job that is ready to be sorted. */
static int
submit(uint64_t rows)
{
	int			n = gsd_claim_job(pool.header, PID);
	uint32_t	first = (uint32_t) (n * JOB_EXTENTS);
	gsd_descriptor *d = memory_of(n, DESCRIPTOR);
	uint64_t   *words = memory_of(n, WORDS);

	for (uint32_t i = 0; i < JOB_EXTENTS; i++)
		(void) gsd_take_extent(pool.header, first + i, PID);
	memset(d, 0, sizeof(*d));
	d->nrows = d->expected_rows = rows;
	d->nplanes = 1;
	d->id_bytes = sizeof(uint32_t);
	d->list[0] = first + WORDS;
	d->list[1] = first + IDS;
	d->list_size = 2;
	d->planes[0].words = (gsd_extents) {0, 1};
	d->ids = (gsd_extents) {1, 1};
	for (uint64_t i = 0; i < rows; i++)
		words[i] = (i + (uint64_t) n) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
	job_of(n)->descriptor = first + DESCRIPTOR;
	job_of(n)->backend_state = GSD_BACKEND_RUN;
	gsd_ring(pool.header);
	return n;
}

static bool
is_answered(int n)
{
	uint32_t	state = job_of(n)->daemon_state;

	return state == GSD_DAEMON_DONE || state == GSD_DAEMON_FAILED;
}

/* Is a job done within some time, and rightly? */
static bool
is_done(int n, uint64_t rows, int ms)
{
	const uint64_t *words = memory_of(n, WORDS);
	const uint32_t *ids = memory_of(n, IDS);

	for (int i = 0; i < 2 * ms && !is_answered(n); i++)
		usleep(500);
	if (job_of(n)->daemon_state != GSD_DAEMON_DONE)
		return false;
	for (uint64_t i = 1; i < rows; i++)
		if (words[ids[i - 1]] > words[ids[i]])
			return false;
	return true;
}

/* Close a job; true if it is let go of. */
static bool
close_job(int n)
{
	job_of(n)->cancel = !is_answered(n);
	job_of(n)->backend_state = GSD_BACKEND_CLOSED;
	gsd_ring(pool.header);
	if (!gsd_sleep_until_let_go(job_of(n), WAIT_MS))
		return false;
	job_of(n)->backend_state = GSD_BACKEND_NONE;
	return true;
}

/* Do so many devices come to stop? */
static bool
reaches(_Atomic unsigned *stopped, unsigned count)
{
	for (int i = 0; i < 2 * WAIT_MS && *stopped != count; i++)
		usleep(500);
	return *stopped == count;
}

static void
test_beside_large(void)
{
	uint64_t	cancelled = pool.header->service.jobs_cancelled;
	int			large;
	int			waiting;
	int			small;
	unsigned	passed = 0;

	main_stops = true;
	large = submit(LARGE);
	tap_ok(reaches(&main_stopped, 1), "a large job is being sorted");
	waiting = submit(LARGE);
	do
	{
		small = submit(SMALL);
		if (!is_done(small, SMALL, passed < PASSING ? WAIT_MS : LOOK_MS))
			break;
		passed++;
	} while (close_job(small) && passed <= PASSING);
	tap_ok(passed == PASSING, "small ones pass it, up to so many of its rows: %u of %u", passed, PASSING);
	tap_ok(!is_answered(large) && !is_answered(waiting), "large ones are sorted one at a time");
	job_of(waiting)->cancel = 1;
	job_of(waiting)->backend_state = GSD_BACKEND_CLOSED;
	main_stops = false;
	tap_ok(is_done(large, LARGE, WAIT_MS), "the large one is sorted");
	tap_ok(is_done(small, SMALL, WAIT_MS), "then the small one that was held back");
	tap_ok(close_job(large) && close_job(small) && close_job(waiting), "all are let go");
	tap_ok(pool.header->service.jobs_cancelled == cancelled + 1, "one that was closed while it waited counts as cancelled");
}

static void
test_beside_small(void)
{
	int			small[ALL_LANES + 1];
	int			large;
	bool		right = true;

	lanes_stop = true;
	for (int i = 0; i < ALL_LANES; i++)
	{
		small[i] = submit(SMALL);
		if (i + 1 == DEVICES)
			tap_ok(reaches(&lanes_stopped, DEVICES) && stopped_on[0] == stopped_on[1],
				   "each device gets one before one gets two");
	}
	tap_ok(reaches(&lanes_stopped, ALL_LANES), "as many small jobs as lanes are sorted at a time: %u",
		   ALL_LANES);
	small[ALL_LANES] = submit(SMALL);
	tap_ok(!is_done(small[ALL_LANES], SMALL, LOOK_MS), "one more waits");
	large = submit(LARGE);
	tap_ok(is_done(large, LARGE, WAIT_MS), "a large one does not wait for small ones");
	job_of(small[0])->cancel = 1;
	lanes_stop = false;
	for (int i = 1; i <= ALL_LANES; i++)
		right &= is_done(small[i], SMALL, WAIT_MS) && close_job(small[i]);
	tap_ok(right, "all are sorted rightly");
	tap_ok(!is_done(small[0], SMALL, WAIT_MS), "but one that was cancelled");
	tap_ok(close_job(small[0]) && close_job(large), "all are let go");
	tap_ok(pool.header->service.device_bytes_used == 0, "device memory is free");
}

static void
test_failures(void)
{
	int			large;
	int			small;

	lanes_are_full = true;
	small = submit(SMALL);
	tap_ok(is_done(small, SMALL, WAIT_MS), "a small job that finds no room in a lane is sorted by all devices");
	lanes_are_full = false;
	(void) close_job(small);

	main_stops = true;
	lane_status = GS_DEVICE_ERROR;
	large = submit(LARGE);
	(void) reaches(&main_stopped, 1);
	small = submit(SMALL);
	tap_ok(!is_done(small, SMALL, WAIT_MS) && job_of(small)->failure == GSD_FAILURE_DEVICE,
		   "a lane fails: so does its job");
	lane_status = GS_OK;
	(void) close_job(small);
	small = submit(SMALL);
	tap_ok(is_done(small, SMALL, WAIT_MS), "the next one does not");
	main_stops = false;
	tap_ok(is_done(large, LARGE, WAIT_MS), "nor does a large one on the same device");
	tap_ok(close_job(small) && close_job(large), "all are let go");
}

static void
test_lost(void)
{
	int			waiting;
	int			large;
	int			small;

	main_stops = true;
	large = submit(LARGE);
	(void) reaches(&main_stopped, 1);
	waiting = submit(LARGE);
	lane_status = GS_DEVICE_LOST;
	small = submit(SMALL);
	tap_ok(!is_done(small, SMALL, WAIT_MS), "a lane loses its device: its job fails");
	main_stops = false;
	(void) is_done(waiting, LARGE, WAIT_MS);
	tap_ok(is_done(large, LARGE, WAIT_MS), "what is being sorted is sorted");
	tap_ok(job_of(waiting)->daemon_state == GSD_DAEMON_FAILED, "what waits fails: %s", job_of(waiting)->message);
	for (int i = 0; i < WAIT_MS && ended_with == GSD_EXIT_ASKED; i++)
		usleep(1000);
	tap_ok(ended_with == GSD_EXIT_DEVICE_LOST, "and the program ends");
	lane_status = GS_OK;
}

static void
test_fit(void)
{
	gsd_lanes	lanes = {.count = 1, .most_rows = 4000000, .lane_bytes = UINT64_C(512) << 20};

	tap_ok(gsd_lanes_fit(&lanes, &(gsd_lane_needs) {4000000, 1, 0}), "as many rows as pay for one device fit");
	tap_ok(!gsd_lanes_fit(&lanes, &(gsd_lane_needs) {4000001, 1, 0}), "one more does not");
	tap_ok(!gsd_lanes_fit(&lanes, &(gsd_lane_needs) {4000000, 64, 0}), "nor do many planes");
	tap_ok(gsd_lanes_fit(&lanes, &(gsd_lane_needs) {1000000, 1, UINT64_C(100) << 20}), "rows may be reordered");
	tap_ok(!gsd_lanes_fit(&lanes, &(gsd_lane_needs) {1000000, 1, UINT64_C(200) << 20}), "but not all");
	tap_ok(!gsd_lanes_fit(&lanes, &(gsd_lane_needs) {UINT64_MAX, 64, UINT64_MAX}) &&
		   !gsd_lanes_fit(&lanes, &(gsd_lane_needs) {1, 1, UINT64_MAX}), "numbers may be wrong");
	lanes.count = 0;
	tap_ok(!gsd_lanes_fit(&lanes, &(gsd_lane_needs) {1, 1, 0}), "nothing fits where there is no lane");
}

int
main(void)
{
	make_pool();
	test_fit();
	start();
	test_beside_large();
	test_beside_small();
	test_failures();
	stop();
	start();
	test_lost();
	stop();
	return tap_finish();
}
