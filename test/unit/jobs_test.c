/*
 * jobs_test.c
 *		Sessions, gpusortd and the supervisor at once, as threads of one process.
 *
 * The service is a protocol between processes that share memory, so no tool sees who reads
 * what another one is writing.  Here each part is played by a thread, with the code of the
 * daemon and of the pool as they are: sessions claim jobs, feed them, read ids as they come,
 * and cancel, close or abandon jobs at random moments, and write over their memory as soon as
 * they may.  Run under the thread sanitizer, as asan-check does it, every access that no
 * state word orders is a failure.
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

#define EXTENTS		64
#define SESSIONS	5
#define FIRST_PID	4711
#define WORDS		3			/* extents */
#define IDS			2
#define LARGE		(2 * GSD_EXTENT_WORDS + GSD_EXTENT_WORDS / 8)
#define SMALL		3000		/* rows, at most, that lanes are for */

static gsd_pool pool;
static gs_group group;
static gsd_jobs *jobs;
static _Atomic bool ending;

/* What a session has, and what came of its jobs. */
typedef struct session
{
	pthread_t	thread;
	uint32_t	pid;
	uint64_t	seed;
	unsigned	rounds;
	uint64_t	nrows;			/* of the job at hand */
	unsigned	done,
				left,
				failed,
				wrong;
} session;

/* The extents of a job, by what they hold. */
enum
{
	DESCRIPTOR,
	FIRST_WORDS,
	FIRST_IDS = FIRST_WORDS + WORDS,
	MEMORY_EXTENTS = FIRST_IDS + IDS
};

typedef struct memory
{
	uint32_t	extents[MEMORY_EXTENTS];
} memory;

static uint64_t
next_random(session *self)
{
	self->seed = self->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return self->seed >> 33;
}

static void
take_memory(session *self, memory *memory)
{
	for (int i = 0; i < MEMORY_EXTENTS; i++)
		while (!gsd_take_any(pool.header, self->pid, &memory->extents[i]))
			usleep(100);
}

/* Extents of a job that gpusortd may be writing for go to the job, all others to the pool. */
static void
give_memory(session *self, const memory *memory, int abandoned_job)
{
	const uint32_t *extents = memory->extents;

	for (int i = 0; i < MEMORY_EXTENTS; i++)
		if (abandoned_job >= 0)
			gsd_leave_extent(pool.header, extents[i], self->pid, (uint32_t) abandoned_job);
		else
		{
			memset(gsd_extent(&pool, extents[i]), 0x55, 64 * 1024);
			gsd_give_extent(pool.header, extents[i], self->pid);
		}
}

static int
open_job(session *self, const memory *memory)
{
	gsd_descriptor *d = gsd_extent(&pool, memory->extents[DESCRIPTOR]);
	gsd_job    *job;
	int			n;

	while ((n = gsd_claim_job(pool.header, self->pid)) < 0)
		usleep(100);
	job = &pool.header->jobs[n];
	memset(d, 0, sizeof(*d));
	d->expected_rows = self->nrows;
	d->nplanes = 1;
	job->descriptor = memory->extents[DESCRIPTOR];
	job->backend_state = GSD_BACKEND_OPEN;
	gsd_ring(pool.header);
	return n;
}

static uint64_t *
word_at(const memory *memory, uint64_t row)
{
	return (uint64_t *) gsd_extent(&pool, memory->extents[FIRST_WORDS + row / GSD_EXTENT_WORDS]) + row % GSD_EXTENT_WORDS;
}

static uint32_t
id_at(const memory *memory, uint64_t place)
{
	uint64_t	per_extent = GSD_EXTENT_BYTES / sizeof(uint32_t);

	return ((uint32_t *) gsd_extent(&pool, memory->extents[FIRST_IDS + place / per_extent]))[place % per_extent];
}

/* Put rows and feed them; extents are listed as they come to be needed. */
static void
feed(session *self, const memory *memory, uint64_t rows)
{
	gsd_descriptor *d = gsd_extent(&pool, memory->extents[DESCRIPTOR]);
	gsd_extents *listed = &d->planes[0].words;

	for (uint64_t i = 0; i < rows; i++)
	{
		*word_at(memory, i) = next_random(self) % 5000;
		if ((i + 1) % GSD_EXTENT_WORDS > 0)
			continue;
		d->list[listed->count] = memory->extents[FIRST_WORDS + listed->count];
		listed->count++;
		d->fed_rows[0] = i + 1;
		gsd_ring(pool.header);
	}
}

static void
run_job(session *self, const memory *memory, gsd_job *job)
{
	gsd_descriptor *d = gsd_extent(&pool, memory->extents[DESCRIPTOR]);

	memcpy(d->list, memory->extents + FIRST_WORDS, (WORDS + IDS) * sizeof(uint32_t));
	d->list_size = WORDS + IDS;
	d->planes[0].words.count = WORDS;
	d->ids = (gsd_extents) {WORDS, IDS};
	d->nrows = self->nrows;
	d->id_bytes = sizeof(uint32_t);
	job->backend_state = GSD_BACKEND_RUN;
	gsd_ring(pool.header);
}

/* Read ids as they come, up to a number of them; false if they are not in order. */
static bool
read_ids(session *self, const memory *memory, gsd_job *job, uint64_t up_to)
{
	uint64_t	read = 0;

	while (read < up_to && job->daemon_state != GSD_DAEMON_FAILED)
	{
		uint64_t	ready = job->ready_rows;

		for (; read < ready; read++)
			if (id_at(memory, read) >= self->nrows ||
				(read > 0 && *word_at(memory, id_at(memory, read - 1)) > *word_at(memory, id_at(memory, read))))
				return false;
		usleep(50);
	}
	return true;
}

/* Close a job; whether gpusortd has let go of it. */
static bool
close_job(gsd_job *job, bool patient)
{
	job->cancel = job->daemon_state != GSD_DAEMON_DONE;
	job->backend_state = GSD_BACKEND_CLOSED;
	gsd_ring(pool.header);
	return gsd_sleep_until_let_go(job, patient ? 60000 : 0);
}

static void
one_job(session *self)
{
	memory		memory;
	int			n;
	gsd_job    *job;
	unsigned	ending_at = next_random(self) % 6;
	bool		patient = next_random(self) % 2 == 0;

	/* some are sorted in lanes, some by all devices */
	self->nrows = next_random(self) % 2 == 0 ? LARGE : 1 + next_random(self) % (2 * SMALL);
	take_memory(self, &memory);
	n = open_job(self, &memory);
	job = &pool.header->jobs[n];
	/* 0: closed while it is fed, 1: when it has been run, 2: while it is read, else at its end */
	feed(self, &memory, ending_at == 0 ? next_random(self) % self->nrows : self->nrows);
	if (ending_at > 0)
		run_job(self, &memory, job);
	if (ending_at > 1)
		self->wrong += !read_ids(self, &memory, job, ending_at == 2 ? next_random(self) % self->nrows : self->nrows);
	if (ending_at > 2)
	{
		while (job->daemon_state != GSD_DAEMON_DONE && job->daemon_state != GSD_DAEMON_FAILED)
			usleep(50);
		self->done += job->daemon_state == GSD_DAEMON_DONE;
		if (job->daemon_state == GSD_DAEMON_FAILED)
		{
			tap_note("%s", job->message);
			self->failed++;
		}
	}
	if (close_job(job, patient))
	{
		give_memory(self, &memory, -1);
		job->backend_state = GSD_BACKEND_NONE;
	}
	else
	{
		self->left++;
		give_memory(self, &memory, n);
		job->abandoned = 1;
	}
}

static void *
play_session(void *arg)
{
	session    *self = arg;

	for (unsigned i = 0; i < self->rounds; i++)
		one_job(self);
	return NULL;
}

static void *
play_daemon(void *arg)
{
	while (!ending)
	{
		uint32_t	rings = pool.header->rings;

		if (gsd_jobs_serve(jobs) != GSD_EXIT_ASKED)
			abort();
		if (!ending)
			gsd_sleep_until_rung(pool.header, rings);
	}
	return NULL;
}

static void *
play_supervisor(void *arg)
{
	while (!ending)
	{
		(void) gsd_reap_jobs(pool.header);
		usleep(300);
	}
	return NULL;
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

static void
start_jobs(void)
{
	gsd_options options = {
		.engine = GSD_ENGINE_SIMULATED,
		.simulated_devices = 3,
		.memory_bytes = UINT64_C(16) << 20,
		.device_rows = SMALL,
		.lanes = 2,
		.bucket_rows = 50000,
		.step_rows = 20000
	};
	char		why[200];
	bool		cuda;

	if (gsd_open_devices(&options, &group, &cuda, why, sizeof(why)) != 0)
		abort();
	jobs = gsd_jobs_begin(&pool, &group, &options);
	if (jobs == NULL)
		abort();
}

int
main(int argc, char **argv)
{
	bool		small = argc > 1 && strcmp(argv[1], "--small") == 0;
	session		sessions[SESSIONS];
	pthread_t	daemon;
	pthread_t	supervisor;
	session		sum = {0};

	make_pool();
	start_jobs();
	pthread_create(&daemon, NULL, play_daemon, NULL);
	pthread_create(&supervisor, NULL, play_supervisor, NULL);
	for (uint32_t i = 0; i < SESSIONS; i++)
	{
		sessions[i] = (session) {.pid = FIRST_PID + i,.seed = i + 1,.rounds = small ? 8 : 60};
		pthread_create(&sessions[i].thread, NULL, play_session, &sessions[i]);
	}
	for (uint32_t i = 0; i < SESSIONS; i++)
	{
		pthread_join(sessions[i].thread, NULL);
		sum.done += sessions[i].done;
		sum.left += sessions[i].left;
		sum.failed += sessions[i].failed;
		sum.wrong += sessions[i].wrong;
	}
	while (pool.header->free_extents < EXTENTS)
		usleep(300);
	ending = true;
	gsd_ring(pool.header);
	pthread_join(daemon, NULL);
	pthread_join(supervisor, NULL);
	tap_ok(sum.wrong == 0, "ids are in order whenever they are read");
	tap_ok(sum.failed == 0 && sum.done > 0, "jobs are done: %u", sum.done);
	tap_ok(sum.left > 0, "some are abandoned, and reaped: %u", sum.left);
	tap_ok(pool.header->service.device_bytes_used == 0, "device memory is free");
	gsd_jobs_end(jobs);
	gsd_close_devices(&group);
	return tap_finish();
}
