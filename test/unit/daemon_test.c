/*
 * daemon_test.c
 *		gpusortd without its process: jobs in a pool, served step by step.
 *
 * The test plays the backend's part, and calls gsd_jobs_settle() where the daemon would
 * have been woken.  Most of it is about descriptors that are wrong: each must
 * fail its own job, with a message, and nothing else.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/daemon_jobs.h"
#include "daemon_mistakes.h"
#include "tap.h"

static gsd_pool pool;
static gs_group group;
static gsd_jobs *jobs;
static bool in_lanes;			/* jobs are small */

static volatile sig_atomic_t signals;

static void
count_signal(int signal)
{
	signals++;
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
	pool.header->service.supervisor_pid = (uint32_t) getpid();
	signal(SIGUSR1, count_signal);
	for (uint32_t i = 0; i < UNOWNED; i++)
		(void) gsd_take_extent(pool.header, i, i == FOREIGN ? OTHER_PID : PID);
}

static void
start_jobs(unsigned ndevices, unsigned lanes)
{
	gsd_options options;
	char		why[200];
	bool		cuda;

	in_lanes = lanes > 0;
	memset(&options, 0, sizeof(options));
	options.engine = GSD_ENGINE_SIMULATED;
	options.simulated_devices = ndevices;
	options.memory_bytes = (lanes > 0 ? UINT64_C(3) << 30 : UINT64_C(64) << 20);
	options.device_rows = lanes > 0 ? 0 : 1000;
	options.lanes = lanes;
	if (gsd_open_devices(&options, &group, &cuda, why, sizeof(why)) != 0)
		abort();
	jobs = gsd_jobs_begin(&pool, &group, &options);
	if (jobs == NULL)
		abort();
}

static void
stop_jobs(void)
{
	gsd_jobs_end(jobs);
	gsd_close_devices(&group);
}

static gsd_job *
job_of(int n)
{
	return &pool.header->jobs[n];
}

static gsd_descriptor *
descriptor(void)
{
	return gsd_extent(&pool, DESCRIPTOR);
}

static uint64_t
word_of(uint64_t row)
{
	return (row * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
}

/* A descriptor of NROWS rows of one plane, in which everything is right. */
static void
describe(bool nulls, bool equal)
{
	gsd_descriptor *d = descriptor();
	uint64_t   *words = gsd_extent(&pool, WORDS);
	static const uint32_t list[] = {
		WORDS, WORDS + 1, WORDS + 2, NULLS, IDS, EQUAL, ROWS, ROWS + 1, ROWS + 2, REFS,
		TO_ROWS, TO_ROWS + 1, TO_ROWS + 2, TO_REFS
	};

	memset(d, 0, sizeof(*d));
	d->nrows = d->expected_rows = NROWS;
	d->nplanes = 1;
	d->id_bytes = sizeof(uint32_t);
	memcpy(d->list, list, sizeof(list));
	d->list_size = sizeof(list) / sizeof(list[0]);
	d->planes[0].words = (gsd_extents) {0, 3};
	d->planes[0].null_order = GS_NULLS_LAST;
	if (nulls)
		d->planes[0].nulls = (gsd_extents) {3, 1};
	d->ids = (gsd_extents) {4, 1};
	if (equal)
		d->equal = (gsd_extents) {5, 1};
	for (uint64_t i = 0; i < NROWS; i++)
		words[i] = word_of(i);
	memset(gsd_extent(&pool, NULLS), 0, GSD_EXTENT_BYTES);
	memset(gsd_extent(&pool, IDS), 0xff, GSD_EXTENT_BYTES);
}

/* Rows behind a descriptor: 16 bytes each, with their length, number and word. */
static void
describe_rows(bool equal_length)
{
	gsd_rows   *rows = &descriptor()->rows;
	uint32_t   *refs = gsd_extent(&pool, REFS);

	*rows = (gsd_rows) {
		.rows = {6, 3},
		.refs = {9, 1},
		.to_rows = {10, 3},
		.to_refs = {13, 1},
		.row_bytes = NROWS * 16,
		.stride = equal_length ? 16 : 0,
		.unit = 8,
		.length_mask = UINT32_MAX,
	};
	for (uint32_t i = 0; i < NROWS; i++)
	{
		uint32_t   *row = (uint32_t *) gsd_extent(&pool, ROWS) + i * 4;

		row[0] = 16;
		row[1] = i;
		row[2] = row[3] = (uint32_t) word_of(i);
		refs[i] = i * 2;
	}
	memset(gsd_extent(&pool, TO_ROWS), 0xff, 3 * GSD_EXTENT_BYTES);
	memset(gsd_extent(&pool, TO_REFS), 0xff, GSD_EXTENT_BYTES);
}

static bool
rows_are_right(bool equal_length)
{
	const uint32_t *ids = gsd_extent(&pool, IDS);
	const uint32_t *rows = gsd_extent(&pool, TO_ROWS);
	const uint32_t *refs = gsd_extent(&pool, TO_REFS);

	for (uint64_t i = 0; i < NROWS; i++)
		if (rows[i * 4] != 16 || rows[i * 4 + 1] != ids[i] || rows[i * 4 + 3] != word_of(ids[i]) ||
			(!equal_length && refs[i] != i * 2))
			return false;
	return true;
}

static int
open_job(void)
{
	int			n = gsd_claim_job(pool.header, PID);

	job_of(n)->descriptor = DESCRIPTOR;
	job_of(n)->backend_state = GSD_BACKEND_OPEN;
	return n;
}

static void
run_job(int n)
{
	job_of(n)->backend_state = GSD_BACKEND_RUN;
	(void) gsd_jobs_settle(jobs);
}

/* Close a job; true if the daemon has let go of it. */
static bool
close_job(int n)
{
	bool		idle;

	job_of(n)->backend_state = GSD_BACKEND_CLOSED;
	(void) gsd_jobs_settle(jobs);
	idle = job_of(n)->daemon_state == GSD_DAEMON_IDLE;
	job_of(n)->backend_state = GSD_BACKEND_NONE;
	return idle;
}

/* Are all rows there, ordered by word, and by row among equals? */
static bool
ids_are_right(void)
{
	const uint32_t *ids = gsd_extent(&pool, IDS);
	uint8_t    *seen = calloc(NROWS, 1);
	bool		right = true;

	for (uint64_t i = 0; i < NROWS && right; i++)
	{
		right = ids[i] < NROWS && !seen[ids[i]];
		if (right && i > 0)
			right = word_of(ids[i - 1]) < word_of(ids[i]) ||
				(word_of(ids[i - 1]) == word_of(ids[i]) && ids[i - 1] < ids[i]);
		if (right)
			seen[ids[i]] = 1;
	}
	free(seen);
	return right;
}

static bool
equal_is_right(void)
{
	const uint32_t *ids = gsd_extent(&pool, IDS);
	const uint64_t *equal = gsd_extent(&pool, EQUAL);

	for (uint64_t i = 0; i < NROWS; i++)
	{
		bool		bit = (equal[i >> 6] >> (i & 63) & 1) != 0;

		if (bit != (i > 0 && word_of(ids[i]) == word_of(ids[i - 1])))
			return false;
	}
	return true;
}

static void
test_life(bool nulls, bool equal, bool feed)
{
	uint64_t	idle_bytes = gsd_device_bytes_free(&group);
	const char *label = feed ? "fed" : nulls ? "with nulls" : equal ? "with bitmap" : "plain";
	int			n;

	describe(nulls, equal);
	n = open_job();
	(void) gsd_jobs_settle(jobs);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_OPENED, "%s: opened", label);
	if (feed)
	{
		descriptor()->fed_rows[0] = GS_SEGMENT_ROWS;
		(void) gsd_jobs_settle(jobs);
		tap_ok((gsd_device_bytes_free(&group) < idle_bytes) == !in_lanes, "%s: uploaded ahead if it is large", label);
	}
	signals = 0;
	run_job(n);
	tap_ok(signals == 0, "%s: nobody waits, nobody is woken", label);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_DONE, "%s: done", label);
	tap_ok(job_of(n)->ready_rows == NROWS, "%s: all rows are ready", label);
	tap_ok(ids_are_right(), "%s: ids", label);
	tap_ok(!equal || equal_is_right(), "%s: bitmap", label);
	tap_ok(close_job(n), "%s: let go", label);
	tap_ok(pool.header->service.device_bytes_used == 0, "%s: device memory is free", label);
}

/* Rows are brought into order behind the sort, which is done whether that works or not. */
static void
test_rows(bool equal_length, bool feed)
{
	uint64_t	idle_bytes = gsd_device_bytes_free(&group);
	const char *label = feed ? "rows, fed" : equal_length ? "equal rows" : "rows";
	int			n;

	describe(false, false);
	describe_rows(equal_length);
	n = open_job();
	(void) gsd_jobs_settle(jobs);
	if (feed)
	{
		descriptor()->fed_row_bytes = 2 * GSD_EXTENT_BYTES;
		(void) gsd_jobs_settle(jobs);
		tap_ok((gsd_device_bytes_free(&group) < idle_bytes) == !in_lanes, "%s: uploaded ahead if it is large", label);
	}
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_DONE && ids_are_right(), "%s: sorted", label);
	tap_ok(job_of(n)->reordered_rows == NROWS, "%s: all are in place", label);
	tap_ok(rows_are_right(equal_length), "%s: in order", label);
	tap_ok(close_job(n), "%s: let go", label);
	tap_ok(gsd_device_bytes_free(&group) == idle_bytes, "%s: device memory is free", label);

	/* fed, and not wanted after all */
	describe(false, false);
	describe_rows(equal_length);
	n = open_job();
	descriptor()->fed_row_bytes = UINT64_MAX;
	(void) gsd_jobs_settle(jobs);
	descriptor()->rows.rows.count = 0;
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_DONE && job_of(n)->reordered_rows == 0,
		   "%s: not wanted after all", label);
	tap_ok(close_job(n), "%s: let go again", label);

	/* rows that are too long for where they are to go */
	describe(false, false);
	describe_rows(equal_length);
	descriptor()->rows.to_rows.count = 1;
	n = open_job();
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_DONE && ids_are_right() &&
		   job_of(n)->reordered_rows < NROWS, "%s: no room for all", label);
	tap_ok(*(uint8_t *) gsd_extent(&pool, TO_ROWS + 1) == 0xff, "%s: nothing behind it is written", label);
	tap_ok(close_job(n) && gsd_device_bytes_free(&group) == idle_bytes, "%s: everything is given back", label);
}

static bool
is_untouched(const uint64_t *words)
{
	for (uint64_t i = 0; i < GSD_EXTENT_BYTES / sizeof(*words); i++)
		if (words[i] != 0)
			return false;
	return true;
}

/* Wrong from the beginning, or from the run on. */
static void
test_mistake(const mistake *mistake, bool late)
{
	uint64_t	failed = pool.header->service.jobs_failed;
	int			n;

	describe(false, false);
	if (!late)
		mistake->make(descriptor());
	n = open_job();
	(void) gsd_jobs_settle(jobs);
	mistake->make(descriptor());
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_FAILED && job_of(n)->failure == GSD_FAILURE_JOB,
		   "%s, %s: fails", mistake->name, late ? "late" : "early");
	tap_ok(job_of(n)->message[0] != '\0', "%s: for the reason \"%s\"", mistake->name, job_of(n)->message);
	tap_ok(is_untouched(gsd_extent(&pool, FOREIGN)), "%s: another's memory is untouched", mistake->name);
	tap_ok(pool.header->service.jobs_failed == failed + 1, "%s: is counted", mistake->name);
	tap_ok(close_job(n), "%s: let go", mistake->name);
}

/* A fed segment that is not there, or not the job's, is left for the run. */
static void
test_bad_feed(void)
{
	int			n;

	describe(false, false);
	descriptor()->list[0] = FOREIGN;
	n = open_job();
	descriptor()->fed_rows[0] = UINT64_MAX;
	(void) gsd_jobs_settle(jobs);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_OPENED, "fed too much: still open");
	tap_ok(close_job(n), "fed too much: let go");

	/* what the list does not reach yet is not read */
	describe(false, false);
	descriptor()->planes[0].words.count = 0;
	descriptor()->list[0] = EQUAL;
	n = open_job();
	descriptor()->fed_rows[0] = GS_SEGMENT_ROWS;
	(void) gsd_jobs_settle(jobs);
	descriptor()->planes[0].words.count = 3;
	descriptor()->list[0] = WORDS;
	run_job(n);
	tap_ok(ids_are_right(), "fed before it was listed: ids");
	tap_ok(close_job(n), "fed before it was listed: let go");
}

static void
test_descriptor_of_another(void)
{
	int			n = gsd_claim_job(pool.header, OTHER_PID);

	describe(false, false);
	job_of(n)->descriptor = DESCRIPTOR;
	job_of(n)->backend_state = GSD_BACKEND_OPEN;
	(void) gsd_jobs_settle(jobs);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_FAILED, "another's descriptor: fails");
	tap_ok(close_job(n), "another's descriptor: let go");
	n = gsd_claim_job(pool.header, PID);
	job_of(n)->descriptor = UINT32_MAX;
	job_of(n)->backend_state = GSD_BACKEND_RUN;
	(void) gsd_jobs_settle(jobs);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_FAILED, "descriptor behind the pool: fails");
	tap_ok(close_job(n), "descriptor behind the pool: let go");
}

/* Jobs that end before they have begun, and what an earlier daemon has left. */
static void
test_ends(void)
{
	gsd_service *service = &pool.header->service;
	uint64_t	cancelled = service->jobs_cancelled;
	uint64_t	idle_bytes = gsd_device_bytes_free(&group);
	int			n;

	describe(false, false);
	n = open_job();
	tap_ok(close_job(n), "closed before it was seen: let go");
	tap_ok(service->jobs_cancelled == cancelled, "closed before it was seen: not counted");

	n = open_job();
	descriptor()->fed_rows[0] = GS_SEGMENT_ROWS;
	(void) gsd_jobs_settle(jobs);
	tap_ok(close_job(n), "closed while open: let go");
	tap_ok(gsd_device_bytes_free(&group) == idle_bytes, "closed while open: device memory is free");
	tap_ok(service->jobs_cancelled == cancelled + 1, "closed while open: counted as cancelled");

	n = open_job();
	job_of(n)->cancel = 1;
	job_of(n)->waiter = (uint32_t) getpid();
	signals = 0;
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_FAILED, "cancelled: no result");
	tap_ok(signals > 0, "cancelled: who waits is told");
	tap_ok(close_job(n), "cancelled: let go");

	n = open_job();
	job_of(n)->daemon_state = GSD_DAEMON_FAILED;
	run_job(n);
	tap_ok(job_of(n)->daemon_state == GSD_DAEMON_FAILED, "an earlier daemon's: left as it is");
	tap_ok(close_job(n), "an earlier daemon's: let go");

	n = open_job();
	(void) gsd_jobs_settle(jobs);
	job_of(n)->backend_state = GSD_BACKEND_CLOSED;
	job_of(n)->abandoned = 1;
	signals = 0;
	(void) gsd_jobs_settle(jobs);
	tap_ok(signals > 0, "abandoned: the supervisor is told");
	tap_ok(gsd_reap_jobs(pool.header) == 1, "abandoned: can be freed");
}

/* Two jobs over the same memory: served in the order in which they were ready. */
static void
test_two_jobs(void)
{
	int			first;
	int			second;

	describe(false, false);
	first = open_job();
	second = open_job();
	(void) gsd_jobs_settle(jobs);
	run_job(second);
	tap_ok(job_of(second)->daemon_state == GSD_DAEMON_DONE &&
		   job_of(first)->daemon_state == GSD_DAEMON_OPENED, "the job that is ready is served");
	run_job(first);
	tap_ok(job_of(first)->daemon_state == GSD_DAEMON_DONE, "the other one later");
	tap_ok(close_job(first) && close_job(second), "two jobs: let go");
}

/* Which ends of gpusortd there is no point in trying again after. */
static void
test_exits(void)
{
	tap_ok(gsd_exit_is_permanent(GSD_EXIT_USAGE) && gsd_exit_is_permanent(GSD_EXIT_NO_DEVICE) &&
		   gsd_exit_is_permanent(GSD_EXIT_WRONG_POOL) && gsd_exit_is_permanent(GSD_EXIT_NO_CUDA) &&
		   gsd_exit_is_permanent(GSD_EXIT_NO_PROGRAM),
		   "exit status: what the next one would find as well is permanent");
	tap_ok(!gsd_exit_is_permanent(GSD_EXIT_ASKED) && !gsd_exit_is_permanent(GSD_EXIT_DEVICE_LOST) &&
		   !gsd_exit_is_permanent(GSD_EXIT_NO_MEMORY) && !gsd_exit_is_permanent(-1),
		   "exit status: memory, a lost device and a crash are not");
}

/* Under the address sanitizer, too, memory that is not there is an answer. */
extern const char *__asan_default_options(void);

__attribute__((visibility("default"))) const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

/* Devices that there is no memory for. */
static void
test_no_memory(void)
{
	gsd_options options = {
		.engine = GSD_ENGINE_SIMULATED,
		.simulated_devices = 2,
		.memory_bytes = UINT64_C(1) << 62,
	};
	char		why[200] = "";
	bool		cuda;

	tap_ok(gsd_open_devices(&options, &group, &cuda, why, sizeof(why)) == GSD_EXIT_NO_MEMORY &&
		   group.ndevices == 0 && why[0] != '\0', "no memory for devices: said so");
}

static void
test_all(void)
{
	test_life(false, false, false);
	test_life(true, false, false);
	test_life(false, true, false);
	test_life(false, true, true);
	test_rows(true, false);
	test_rows(false, false);
	test_rows(false, true);
	for (unsigned i = 0; i < daemon_nmistakes; i++)
	{
		test_mistake(&daemon_mistakes[i], false);
		test_mistake(&daemon_mistakes[i], true);
	}
	test_bad_feed();
	test_descriptor_of_another();
	test_ends();
	test_two_jobs();
	test_life(false, false, false);
}

int
main(void)
{
	make_pool();
	test_exits();
	test_no_memory();
	for (unsigned ndevices = 1; ndevices <= 3; ndevices += 2)
	{
		start_jobs(ndevices, 0);
		test_all();
		stop_jobs();
	}
	start_jobs(2, 3);
	test_all();
	stop_jobs();
	return tap_finish();
}
