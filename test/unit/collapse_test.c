/*
 * collapse_test.c
 *		Who may make huge pages of extents: few at a time, nobody for a while after a slow one,
 *		then one, and all again once it was quick.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "protocol/gsd_collapse.h"
#include "tap.h"

#define NEXTENTS	8
#define START		1000
#define THREADS		6
#define ROUNDS		20000

static gsd_header *
make_header(void)
{
	uint64_t	bytes = gsd_pool_bytes(NEXTENTS);
	gsd_header *header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
							  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (header == MAP_FAILED)
		abort();
	gsd_pool_init(header, bytes, false);
	return header;
}

static void
free_header(gsd_header *header)
{
	munmap(header, header->pool_bytes);
}

/* How many of GSD_COLLAPSE_MAX + 2 processes may at the same time; they take took_ms. */
static unsigned
begin_and_end(gsd_header *header, uint64_t now_ms, uint64_t took_ms)
{
	unsigned	begun = 0;

	for (int i = 0; i < GSD_COLLAPSE_MAX + 2; i++)
		begun += gsd_collapse_begin(header, now_ms);
	for (unsigned i = 0; i < begun; i++)
		gsd_collapse_end(header, now_ms, now_ms + took_ms);
	return begun;
}

static void
test_quick(void)
{
	gsd_header *header = make_header();

	tap_ok(begin_and_end(header, START, 1) == GSD_COLLAPSE_MAX, "few at a time");
	tap_ok(begin_and_end(header, START, GSD_COLLAPSE_SLOW_MS - 1) == GSD_COLLAPSE_MAX,
		   "as many again when they have ended");
	tap_ok(begin_and_end(header, START + 1, 1) == GSD_COLLAPSE_MAX, "... and were quick");
	free_header(header);
}

static void
test_slow(void)
{
	gsd_header *header = make_header();
	uint64_t	now = START;

	begin_and_end(header, now, GSD_COLLAPSE_SLOW_MS);
	now += GSD_COLLAPSE_SLOW_MS;
	tap_ok(begin_and_end(header, now, 1) == 0, "nobody after a slow one");
	now += GSD_COLLAPSE_PAUSE_MS;
	tap_ok(begin_and_end(header, now - 1, 1) == 0, "... for as long as the pause is");
	tap_ok(begin_and_end(header, now, GSD_COLLAPSE_SLOW_MS) == 1, "one tries then");
	now += GSD_COLLAPSE_SLOW_MS;
	tap_ok(begin_and_end(header, now, 1) == 0, "nobody if it was slow again");
	now += GSD_COLLAPSE_PAUSE_MS;
	tap_ok(begin_and_end(header, now, 1) == 1 && begin_and_end(header, now + 1, 1) == GSD_COLLAPSE_MAX,
		   "everybody if it was quick");
	free_header(header);
}

/* One that began before the slow one ended, and was quick, does not end the pause. */
static void
test_overlap(void)
{
	gsd_header *header = make_header();

	tap_ok(gsd_collapse_begin(header, START) && gsd_collapse_begin(header, START + 49), "two begin");
	gsd_collapse_end(header, START, START + 50);
	gsd_collapse_end(header, START + 49, START + 51);
	tap_ok(!gsd_collapse_begin(header, START + 52), "a quick one beside a slow one changes nothing");
	free_header(header);
}

/* One that tried and was never heard of again keeps others from it for a pause, not for ever. */
static void
test_lost(void)
{
	gsd_header *header = make_header();
	uint64_t	now = START + GSD_COLLAPSE_SLOW_MS + GSD_COLLAPSE_PAUSE_MS;

	begin_and_end(header, START, GSD_COLLAPSE_SLOW_MS);
	tap_ok(gsd_collapse_begin(header, now) && !gsd_collapse_begin(header, now + 1), "one tries");
	tap_ok(gsd_collapse_begin(header, now + GSD_COLLAPSE_PAUSE_MS), "the next one, a pause later");
	free_header(header);
}

/* Extents that the system had no huge page for: one is tried after a while, all if it got one. */
static void
test_retry(void)
{
	gsd_header *header = make_header();
	uint64_t	now = START;

	gsd_collapse_note(header, false, now);
	tap_ok(!gsd_collapse_may_retry(header, now + GSD_COLLAPSE_RETRY_MS - 1), "none for a while");
	now += GSD_COLLAPSE_RETRY_MS;
	tap_ok(gsd_collapse_may_retry(header, now) && !gsd_collapse_may_retry(header, now),
		   "one after that");
	gsd_collapse_note(header, false, now);
	tap_ok(!gsd_collapse_may_retry(header, now + 1), "none if there still was no huge page");
	now += GSD_COLLAPSE_RETRY_MS;
	tap_ok(gsd_collapse_may_retry(header, now), "one more");
	gsd_collapse_note(header, true, now);
	tap_ok(gsd_collapse_may_retry(header, now) && gsd_collapse_may_retry(header, now),
		   "all if there was one");
	free_header(header);
}

typedef struct Crowd
{
	gsd_header *header;
	_Atomic unsigned inside;
	_Atomic unsigned most;
} Crowd;

static void *
collapse_often(void *arg)
{
	Crowd	   *crowd = arg;

	for (uint64_t i = 0; i < ROUNDS; i++)
	{
		unsigned	inside;
		unsigned	most;

		if (!gsd_collapse_begin(crowd->header, START + i))
			continue;
		inside = atomic_fetch_add(&crowd->inside, 1) + 1;
		most = atomic_load(&crowd->most);
		while (most < inside && !atomic_compare_exchange_weak(&crowd->most, &most, inside))
			;
		atomic_fetch_sub(&crowd->inside, 1);
		gsd_collapse_end(crowd->header, START + i,
						 START + i + (i % 1000 == 0 ? GSD_COLLAPSE_SLOW_MS : 0));
	}
	return NULL;
}

static void
test_threads(void)
{
	Crowd		crowd = {.header = make_header()};
	pthread_t	threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, collapse_often, &crowd) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	tap_ok(crowd.most > 0 && crowd.most <= GSD_COLLAPSE_MAX, "few at a time, of many threads (%u)",
		   crowd.most);
	tap_ok(crowd.header->collapsing == 0, "nobody is left");
	free_header(crowd.header);
}

int
main(void)
{
	test_quick();
	test_slow();
	test_overlap();
	test_lost();
	test_retry();
	test_threads();
	return tap_finish();
}
