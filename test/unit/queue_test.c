/*
 * queue_test.c
 *		Whose turn it is at gpusortd: small jobs pass large ones, equal ones come in order of
 *		arrival, and no stream of small ones holds a large one up for long.
 */
#include "daemon/daemon_jobs.h"
#include "tap.h"

#define LARGE	1000000
#define SMALL	1000

static void
test_order(void)
{
	gsd_queue	queue = {0};

	tap_ok(gsd_queue_take(&queue) < 0, "nobody waits");
	gsd_queue_enter(&queue, 7, LARGE);
	gsd_queue_enter(&queue, 5, LARGE);
	gsd_queue_enter(&queue, 6, LARGE);
	tap_ok(gsd_queue_take(&queue) == 7 && gsd_queue_take(&queue) == 5 && gsd_queue_take(&queue) == 6,
		   "equals in order of arrival");
	tap_ok(gsd_queue_take(&queue) < 0, "once each");
}

static void
test_small(void)
{
	gsd_queue	queue = {0};

	gsd_queue_enter(&queue, 1, LARGE);
	gsd_queue_enter(&queue, 2, LARGE / 2);
	gsd_queue_enter(&queue, 3, SMALL);
	gsd_queue_enter(&queue, 4, SMALL);
	gsd_queue_leave(&queue, 3);
	tap_ok(gsd_queue_take(&queue) == 4, "a small one passes large ones");
	tap_ok(gsd_queue_take(&queue) == 2 && gsd_queue_take(&queue) == 1, "the smaller of the large ones, too");
	tap_ok(gsd_queue_take(&queue) < 0, "one that has left has no turn");
}

/* There is always a small one waiting; how many rows of such pass a large one? */
static uint64_t
rows_that_pass(uint64_t rows)
{
	gsd_queue	queue = {.sorted_rows = 123456789};
	uint64_t	passed = 0;

	gsd_queue_enter(&queue, 0, LARGE);
	do
	{
		gsd_queue_enter(&queue, 1, rows);
		passed += rows;
	} while (gsd_queue_take(&queue) == 1 && passed < 100 * (uint64_t) LARGE);
	return passed - rows;
}

static void
test_patience(void)
{
	uint64_t	most = GSD_QUEUE_PATIENCE * (uint64_t) LARGE;

	tap_ok(rows_that_pass(SMALL) <= most && rows_that_pass(SMALL) > most - 10 * SMALL,
		   "small ones pass a large one, but not for ever: %llu rows",
		   (unsigned long long) rows_that_pass(SMALL));
	tap_ok(rows_that_pass(LARGE / 2) <= most, "... nor do larger ones");
	tap_ok(rows_that_pass(LARGE) == 0, "none passes that is as large");
}

/* What a session says need not be true. */
static void
test_lies(void)
{
	gsd_queue	queue = {0};

	gsd_queue_enter(&queue, 0, UINT64_MAX);
	gsd_queue_enter(&queue, 1, 0);
	tap_ok(gsd_queue_take(&queue) == 1 && gsd_queue_take(&queue) == 0, "any number of rows is one");
	gsd_queue_enter(&queue, 0, LARGE);
	gsd_queue_enter(&queue, 1, UINT64_MAX);
	tap_ok(gsd_queue_take(&queue) == 0 && gsd_queue_take(&queue) == 1, "... and goes on in order");
}

int
main(void)
{
	test_order();
	test_small();
	test_patience();
	test_lies();
	return tap_finish();
}
