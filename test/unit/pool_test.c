/*
 * pool_test.c
 *		The pool: extents that change hands between threads, jobs that are
 *		abandoned, a daemon that dies, and who is woken.
 *
 * The threads stand for processes.  Each extent that is taken gets its owner's
 * number written into its memory, which nobody else may change until it is given
 * back.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "protocol/gsd_wake.h"
#include "tap.h"

#define THREADS		4
#define HELD_MAX	24

static gsd_pool
make_pool(uint32_t nextents)
{
	gsd_pool	pool;
	uint64_t	bytes = gsd_pool_bytes(nextents);

	memset(&pool, 0, sizeof(pool));
	pool.header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool.header == MAP_FAILED)
		abort();
	gsd_pool_init(pool.header, bytes, false);
	pool.fd = -1;
	return pool;
}

static void
free_pool(gsd_pool *pool)
{
	munmap(pool->header, pool->header->pool_bytes);
}

static uint32_t
count_owned(gsd_header *header, uint32_t owner)
{
	uint32_t	count = 0;

	for (uint32_t i = 0; i < header->nextents; i++)
		count += header->owners[i] == owner;
	return count;
}

/* Extents and header do not overlap, and everything lies in the memfd. */
static void
test_sizes(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 100, 8192, 20000};
	bool		fits = true,
				counted = true,
				checked = true;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		gsd_pool	pool = make_pool(sizes[i]);
		gsd_header *header = pool.header;
		char	   *first = gsd_extent(&pool, 0);

		fits &= first >= (char *) gsd_extent_state_of(header, header->nextents) &&
			gsd_extent_offset(&pool, header->nextents) <= header->pool_bytes &&
			header->extents_offset % GSD_EXTENT_BYTES == 0;
		counted &= header->nextents == sizes[i] && header->free_extents == sizes[i];
		checked &= gsd_pool_check(header, header->pool_bytes) == NULL;
		free_pool(&pool);
	}
	tap_ok(fits, "extents lie behind the header and inside the pool");
	tap_ok(counted, "a pool for so many extents has so many");
	tap_ok(checked, "a new pool passes the check");
}

static void
test_check(void)
{
	gsd_pool	pool = make_pool(4);
	uint64_t	bytes = pool.header->pool_bytes;

	tap_ok(gsd_pool_check(pool.header, bytes + GSD_EXTENT_BYTES) != NULL, "another size is refused");
	tap_ok(gsd_pool_check(pool.header, 100) != NULL, "a size below the header's is refused");
	pool.header->abi_version++;
	tap_ok(gsd_pool_check(pool.header, bytes) != NULL, "another version is refused");
	pool.header->abi_version--;
	pool.header->nextents += 5;
	tap_ok(gsd_pool_check(pool.header, bytes) != NULL, "more extents than there is room for are refused");
	pool.header->nextents -= 5;
	pool.header->magic++;
	tap_ok(gsd_pool_check(pool.header, bytes) != NULL, "something else is refused");
	pool.header->magic--;
	tap_ok(gsd_pool_check(pool.header, bytes) == NULL, "the pool itself is accepted");
	free_pool(&pool);
}

static void
test_owners(void)
{
	gsd_pool	pool = make_pool(8);
	gsd_header *header = pool.header;
	uint32_t	extent = 99;
	bool		ascending = true;

	for (uint32_t i = 0; i < 8; i++)
		ascending &= gsd_take_any(header, 7, &extent) && extent == i;
	tap_ok(ascending, "extents are taken from the lowest on");
	tap_ok(!gsd_take_any(header, 7, &extent) && header->free_extents == 0, "none is left");
	gsd_give_extent(header, 5, 8);
	tap_ok(header->owners[5] == 7 && header->free_extents == 0, "others can't give an extent back");
	gsd_give_extent(header, 5, 7);
	gsd_give_extent(header, 2, 7);
	gsd_give_extent(header, 2, 7);
	tap_ok(header->free_extents == 2, "giving back twice counts once");
	tap_ok(gsd_take_any(header, 9, &extent) && extent == 2, "the lowest free one is taken");
	tap_ok(!gsd_take_extent(header, 2, 9) && gsd_take_extent(header, 5, 9), "a particular one is taken if free");
	tap_ok(!gsd_take_extent(header, 8, 9), "one that does not exist is not");
	gsd_leave_extent(header, 2, 7, 3);
	tap_ok(header->owners[2] == 9, "others can't leave an extent");
	gsd_leave_extent(header, 2, 9, 3);
	tap_ok(header->owners[2] == (GSD_OWNER_JOB | 3), "an extent is left to a job");
	tap_ok(gsd_give_all(header, 7) == 6 && header->free_extents == 6, "an owner gives all back");
	tap_ok(count_owned(header, 9) == 1, "... and nobody else's");
	tap_ok(!gsd_take_row(header, 3, GSD_OWNER_DAEMON, &extent) && header->free_extents == 6,
		   "of 0, 1, 3, 4, 6 and 7 no three lie side by side");
	tap_ok(gsd_take_row(header, 2, GSD_OWNER_DAEMON, &extent) && extent == 6 &&
		   header->free_extents == 4, "the highest two");
	tap_ok(gsd_take_row(header, 2, GSD_OWNER_DAEMON, &extent) && extent == 3, "the next two");
	gsd_daemon_died(header);
	tap_ok(header->free_extents == 6, "a dead daemon has none");
	free_pool(&pool);
}

typedef struct hammer
{
	pthread_t	thread;
	gsd_pool   *pool;
	uint32_t	owner;
	unsigned	rounds;
	unsigned	clashes;		/* extents that somebody else wrote to */
	unsigned	refusals;
} hammer;

static uint32_t
next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t) (*seed >> 33);
}

static bool
take_one(hammer *self, uint64_t *seed, uint32_t *extent)
{
	gsd_header *header = self->pool->header;

	if (next_random(seed) % 4 != 0)
		return gsd_take_any(header, self->owner, extent);
	*extent = next_random(seed) % header->nextents;
	return gsd_take_extent(header, *extent, self->owner);
}

static void *
hammer_extents(void *arg)
{
	hammer	   *self = arg;
	gsd_header *header = self->pool->header;
	uint64_t	seed = self->owner;
	uint32_t	held[HELD_MAX];
	unsigned	nheld = 0;

	for (unsigned round = 0; round < self->rounds; round++)
	{
		uint32_t	extent;

		if (nheld < HELD_MAX && next_random(&seed) % 2 == 0)
		{
			if (!take_one(self, &seed, &extent))
			{
				self->refusals++;
				continue;
			}
			*(uint32_t *) gsd_extent(self->pool, extent) = self->owner;
			held[nheld++] = extent;
		}
		else if (nheld > 0)
		{
			unsigned	which = next_random(&seed) % nheld;

			extent = held[which];
			held[which] = held[--nheld];
			if (*(uint32_t *) gsd_extent(self->pool, extent) != self->owner)
				self->clashes++;
			gsd_give_extent(header, extent, self->owner);
		}
		else if (round % 64 == 0)
			gsd_give_all(header, self->owner);
	}
	if (gsd_give_all(header, self->owner) != nheld)
		self->clashes++;
	return NULL;
}

static void
test_threads(uint32_t nextents, unsigned rounds)
{
	gsd_pool	pool = make_pool(nextents);
	hammer		hammers[THREADS];
	unsigned	clashes = 0,
				refusals = 0;

	memset(hammers, 0, sizeof(hammers));
	for (uint32_t i = 0; i < THREADS; i++)
	{
		hammers[i].pool = &pool;
		hammers[i].owner = i + 1;
		hammers[i].rounds = rounds;
		pthread_create(&hammers[i].thread, NULL, hammer_extents, &hammers[i]);
	}
	for (uint32_t i = 0; i < THREADS; i++)
	{
		pthread_join(hammers[i].thread, NULL);
		clashes += hammers[i].clashes;
		refusals += hammers[i].refusals;
	}
	tap_ok(clashes == 0, "%u extents: nobody got another's", nextents);
	tap_ok(refusals > 0, "%u extents: the pool ran out at times", nextents);
	tap_ok(pool.header->free_extents == nextents && count_owned(pool.header, GSD_OWNER_NONE) == nextents,
		   "%u extents: all came back", nextents);
	free_pool(&pool);
}

/* A free extent is found even when several look at once. */
static void *
take_and_give(void *arg)
{
	hammer	   *self = arg;
	uint32_t	extent;

	for (unsigned round = 0; round < self->rounds; round++)
	{
		if (gsd_take_any(self->pool->header, self->owner, &extent))
			gsd_give_extent(self->pool->header, extent, self->owner);
		else
			self->refusals++;
	}
	return NULL;
}

static void
test_never_refused(unsigned rounds)
{
	gsd_pool	pool = make_pool(THREADS * 4);
	hammer		hammers[THREADS];
	unsigned	refusals = 0;

	memset(hammers, 0, sizeof(hammers));
	for (uint32_t i = 0; i < THREADS; i++)
	{
		hammers[i].pool = &pool;
		hammers[i].owner = i + 1;
		hammers[i].rounds = rounds;
		pthread_create(&hammers[i].thread, NULL, take_and_give, &hammers[i]);
	}
	for (uint32_t i = 0; i < THREADS; i++)
	{
		pthread_join(hammers[i].thread, NULL);
		refusals += hammers[i].refusals;
	}
	tap_ok(refusals == 0, "four extents for everyone: nobody is refused");
	free_pool(&pool);
}

/* A closed and abandoned job with two extents; who reaps it? */
static void
abandon(gsd_header *header, uint32_t number, uint32_t daemon_state)
{
	gsd_job    *job = &header->jobs[number];
	uint32_t	extent;

	for (int i = 0; i < 2; i++)
	{
		gsd_take_any(header, 11, &extent);
		gsd_leave_extent(header, extent, 11, number);
	}
	job->daemon_state = daemon_state;
	job->abandoned = 1;
	job->backend_state = GSD_BACKEND_CLOSED;
}

static void *
reap_often(void *arg)
{
	hammer	   *self = arg;

	for (unsigned i = 0; i < self->rounds; i++)
		self->clashes += gsd_reap_jobs(self->pool->header);
	return NULL;
}

static void
test_reaping(void)
{
	gsd_pool	pool = make_pool(64);
	gsd_header *header = pool.header;
	hammer		hammers[THREADS];
	unsigned	reaped = 0;

	abandon(header, 3, GSD_DAEMON_RUNNING);
	tap_ok(gsd_reap_jobs(header) == 0 && count_owned(header, GSD_OWNER_JOB | 3) == 2,
		   "a job that the daemon works for is not reaped");
	header->jobs[3].daemon_state = GSD_DAEMON_IDLE;
	header->jobs[3].abandoned = 0;
	tap_ok(gsd_reap_jobs(header) == 0, "nor one whose backend waits for it");
	header->jobs[3].abandoned = 1;
	tap_ok(gsd_reap_jobs(header) == 1 && header->free_extents == 64 &&
		   header->jobs[3].backend_state == GSD_BACKEND_NONE && header->jobs[3].abandoned == 0,
		   "one that both sides are done with is");

	for (uint32_t i = 0; i < 16; i++)
		abandon(header, i, GSD_DAEMON_IDLE);
	memset(hammers, 0, sizeof(hammers));
	for (int i = 0; i < THREADS; i++)
	{
		hammers[i].pool = &pool;
		hammers[i].rounds = 100;
		pthread_create(&hammers[i].thread, NULL, reap_often, &hammers[i]);
	}
	for (int i = 0; i < THREADS; i++)
	{
		pthread_join(hammers[i].thread, NULL);
		reaped += hammers[i].clashes;
	}
	tap_ok(reaped == 16 && header->free_extents == 64, "each job is reaped once");
	free_pool(&pool);
}

static void *
claim_all(void *arg)
{
	hammer	   *self = arg;

	while (gsd_claim_job(self->pool->header, self->owner) >= 0)
		self->clashes++;
	return NULL;
}

static void
test_claiming(void)
{
	gsd_pool	pool = make_pool(4);
	gsd_job    *jobs = pool.header->jobs;
	hammer		hammers[THREADS];
	unsigned	claimed[THREADS + 1] = {0},
				total = 0;
	bool		right = true;

	jobs[0].daemon_state = GSD_DAEMON_RUNNING;
	jobs[1].backend_state = GSD_BACKEND_CLOSED;
	jobs[2].cancel = jobs[2].abandoned = 1;
	memset(hammers, 0, sizeof(hammers));
	for (uint32_t i = 0; i < THREADS; i++)
	{
		hammers[i].pool = &pool;
		hammers[i].owner = i + 1;
		pthread_create(&hammers[i].thread, NULL, claim_all, &hammers[i]);
	}
	for (int i = 0; i < THREADS; i++)
	{
		pthread_join(hammers[i].thread, NULL);
		total += hammers[i].clashes;
	}
	for (int i = 2; i < GSD_MAX_JOBS; i++)
	{
		right &= jobs[i].backend_state == GSD_BACKEND_CLAIMED && jobs[i].pid - 1 < THREADS;
		claimed[jobs[i].pid % (THREADS + 1)]++;
	}
	for (int i = 0; i < THREADS; i++)
		right &= claimed[i + 1] == hammers[i].clashes;
	tap_ok(total == GSD_MAX_JOBS - 2 && right, "each free job is claimed once");
	tap_ok(jobs[0].backend_state == GSD_BACKEND_NONE && jobs[1].backend_state == GSD_BACKEND_CLOSED,
		   "others are left alone");
	tap_ok(jobs[2].cancel == 0 && jobs[2].abandoned == 0, "a claimed job starts afresh");
	jobs[2].backend_state = GSD_BACKEND_NONE;
	gsd_claim_job(pool.header, 1);
	tap_ok(jobs[0].claims == 0 && jobs[2].claims == 2 && jobs[3].claims == 1, "... and is told from the one before");
	free_pool(&pool);
}

static volatile sig_atomic_t signals;

static void
count_signal(int signal)
{
	signals++;
}

static void
test_death(void)
{
	gsd_pool	pool = make_pool(16);
	gsd_job    *jobs = pool.header->jobs;

	jobs[0].backend_state = GSD_BACKEND_RUN;
	jobs[0].daemon_state = GSD_DAEMON_RUNNING;
	jobs[1].backend_state = GSD_BACKEND_OPEN;
	jobs[2].backend_state = GSD_BACKEND_RUN;
	jobs[2].daemon_state = GSD_DAEMON_DONE;
	jobs[3].backend_state = GSD_BACKEND_RUN;
	jobs[3].daemon_state = GSD_DAEMON_FAILED;
	jobs[3].failure = GSD_FAILURE_JOB;
	jobs[4].backend_state = GSD_BACKEND_CLOSED;
	jobs[4].daemon_state = GSD_DAEMON_RUNNING;
	abandon(pool.header, 5, GSD_DAEMON_RUNNING);
	jobs[0].waiter = jobs[2].waiter = (uint32_t) getpid();
	signal(SIGUSR1, count_signal);
	signals = 0;
	gsd_daemon_died(pool.header);

	tap_ok(jobs[0].daemon_state == GSD_DAEMON_FAILED && jobs[0].failure == GSD_FAILURE_GONE &&
		   jobs[0].message[0] != '\0', "a running job fails");
	tap_ok(signals == 1, "who waits for it is told, and nobody else");
	tap_ok(jobs[1].daemon_state == GSD_DAEMON_FAILED, "an open one fails, too");
	tap_ok(jobs[2].daemon_state == GSD_DAEMON_DONE, "a finished one is finished");
	tap_ok(jobs[3].daemon_state == GSD_DAEMON_FAILED && jobs[3].failure == GSD_FAILURE_JOB,
		   "one that failed keeps its reason");
	tap_ok(jobs[4].daemon_state == GSD_DAEMON_IDLE && jobs[4].backend_state == GSD_BACKEND_CLOSED,
		   "a closed one is left to its backend");
	tap_ok(jobs[5].backend_state == GSD_BACKEND_NONE && pool.header->free_extents == 16,
		   "an abandoned one is reaped");

	jobs[0].backend_state = GSD_BACKEND_CLOSED;
	gsd_daemon_died(pool.header);
	tap_ok(jobs[0].daemon_state == GSD_DAEMON_IDLE, "a failed one is freed once it is closed");
	free_pool(&pool);
}

/* Somebody who rings for gpusortd, and lets go of a job, a little later. */
static void *
ring_later(void *arg)
{
	hammer	   *self = arg;

	usleep(20000);
	gsd_ring(self->pool->header);
	gsd_let_go(&self->pool->header->jobs[0]);
	return NULL;
}

static void
test_waking(void)
{
	gsd_pool	pool = make_pool(4);
	gsd_job    *job = &pool.header->jobs[0];
	hammer		other = {.pool = &pool};

	signal(SIGUSR1, count_signal);
	job->daemon_state = GSD_DAEMON_RUNNING;
	pthread_create(&other.thread, NULL, ring_later, &other);
	while (pool.header->rings == 0)
		gsd_sleep_until_rung(pool.header, 0);
	tap_ok(gsd_sleep_until_let_go(job, 60000), "a job is waited for until it is let go");
	pthread_join(other.thread, NULL);
	gsd_sleep_until_rung(pool.header, 0);
	tap_ok(pool.header->rings == 1, "a ring that has come already is not slept through");
	tap_ok(gsd_sleep_until_let_go(job, 0), "nor is a job that is let go");
	job->daemon_state = GSD_DAEMON_RUNNING;
	tap_ok(!gsd_sleep_until_let_go(job, 20), "a job that is kept is not waited for any longer");

	errno = ENOENT;
	signals = 0;
	gsd_ring(pool.header);
	gsd_wake_supervisor(pool.header);
	gsd_wake_waiter(job);
	tap_ok(errno == ENOENT && signals == 0, "nobody there: nothing happens");
	job->waiter = (uint32_t) getpid();
	gsd_wake_waiter(job);
	tap_ok(errno == ENOENT && signals == 1, "who waits for a job is sent a signal");
	job->waiter = INT32_MAX;
	gsd_wake_waiter(job);
	tap_ok(errno == ENOENT && signals == 1, "what can't be a process is not");
	free_pool(&pool);
}

int
main(int argc, char **argv)
{
	unsigned	rounds = argc > 1 && strcmp(argv[1], "--small") == 0 ? 20000 : 300000;

	test_sizes();
	test_check();
	test_owners();
	test_threads(THREADS * HELD_MAX / 3, rounds);
	test_threads(3, rounds);
	test_never_refused(rounds);
	test_claiming();
	test_reaping();
	test_death();
	test_waking();
	return tap_finish();
}
