/*
 * args_test.c
 *		What gs_sort() refuses, how it is cancelled, and that it can be repeated.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "keys.h"
#include "engine/host/gs_sort.h"
#include "tap.h"

#define ROWS		1000
#define LONG_ROWS	3000000

static volatile int cancel_flag;
static volatile struct timespec cancelled_at;

static void *
allocate(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

/* Arguments that are all right. */
static gs_sort_args
good_args(uint64_t nrows, gs_plane *plane)
{
	uint64_t   *words = allocate(nrows * sizeof(uint64_t));
	gs_sort_args args = {
		.nrows = nrows,
		.nplanes = 1,
		.planes = plane,
		.id_bytes = 4,
		.workspace_bytes = gs_sort_workspace_bytes(nrows),
	};

	keys_fill(words, nrows, KEYS_UNIFORM64, 1);
	*plane = (gs_plane) {.words = words};
	args.workspace = allocate(args.workspace_bytes);
	return args;
}

static void
free_args(gs_sort_args *args)
{
	free((void *) args->planes[0].words);
	free(args->workspace);
}

static void
test_refusals(void)
{
	gs_plane	plane;
	gs_sort_args good = good_args(ROWS, &plane);
	gs_plane	many[GS_MAX_PLANES + 1];
	gs_plane	wordless = {.words = NULL};
	gs_plane	disorder = plane;
	gs_sort_args args;
	gs_sort_result result;

	disorder.nulls = calloc((ROWS + 63) / 64, sizeof(uint64_t));
	disorder.null_order = (gs_null_order) 7;
	for (int i = 0; i <= GS_MAX_PLANES; i++)
		many[i] = plane;

#define REFUSES(expected, what, ...) \
	do { \
		args = good; \
		__VA_ARGS__; \
		tap_ok(gs_sort(&args, &result) == (expected), what); \
	} while (0)

	REFUSES(GS_OK, "good arguments are taken", (void) 0);
	REFUSES(GS_INVALID, "ids of 0 bytes", args.id_bytes = 0);
	REFUSES(GS_INVALID, "ids of 5 bytes", args.id_bytes = 5);
	REFUSES(GS_INVALID, "planes missing", args.planes = NULL);
	REFUSES(GS_INVALID, "words missing", args.planes = &wordless);
	REFUSES(GS_INVALID, "unknown null order", args.planes = &disorder);
	REFUSES(GS_INVALID, "too many planes", args.planes = many; args.nplanes = GS_MAX_PLANES + 1);
	REFUSES(GS_OK, "as many planes as allowed", args.planes = many; args.nplanes = GS_MAX_PLANES);
	REFUSES(GS_INVALID, "workspace missing", args.workspace = NULL);
	REFUSES(GS_INVALID, "workspace not aligned", args.workspace = (char *) good.workspace + 8);
	REFUSES(GS_NO_SPACE, "workspace a byte too small", args.workspace_bytes--);
	REFUSES(GS_NO_SPACE, "no workspace at all", args.workspace_bytes = 0);
	REFUSES(GS_INVALID, "2^32 + 1 rows with ids of 4 bytes", args.nrows = (UINT64_C(1) << 32) + 1);
	REFUSES(GS_NO_SPACE, "2^32 + 1 rows with ids of 8 bytes",
			args.nrows = (UINT64_C(1) << 32) + 1; args.id_bytes = 8);
	REFUSES(GS_INVALID, "2^64 - 1 rows", args.nrows = UINT64_MAX; args.id_bytes = 8);
	tap_ok(gs_sort(NULL, &result) == GS_INVALID, "arguments missing");
	tap_ok(gs_sort(&good, NULL) == GS_INVALID, "result missing");
	tap_ok(gs_sort_workspace_bytes(UINT64_MAX) == SIZE_MAX, "no workspace is large enough");

	free((void *) disorder.nulls);
	free_args(&good);
}

static void
test_texts(void)
{
	bool		different = true;

	for (int a = GS_OK; a <= GS_CANCELLED + 1; a++)
		for (int b = GS_OK; b < a; b++)
			different &= strcmp(gs_status_text((gs_status) a), gs_status_text((gs_status) b)) != 0;
	tap_ok(different, "every status has a text of its own");
}

static void
set_cancel_flag(int signal_number)
{
	struct timespec now;

	(void) signal_number;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	cancelled_at.tv_sec = now.tv_sec;
	cancelled_at.tv_nsec = now.tv_nsec;
	cancel_flag = 1;
}

static double
ms_since_cancel(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) (now.tv_sec - cancelled_at.tv_sec) * 1e3 +
		(double) (now.tv_nsec - cancelled_at.tv_nsec) / 1e6;
}

/*
 * Sort, and be cancelled by a timer after so many microseconds of CPU time.
 * True if the sort was still running then.
 */
static bool
test_cancel_after(gs_sort_args *args, long delay_us, const char *keys)
{
	struct itimerval timer = {.it_value = {.tv_usec = delay_us}};
	gs_sort_result result;
	gs_status	status;
	bool		in_time;

	cancel_flag = 0;
	setitimer(ITIMER_PROF, &timer, NULL);
	status = gs_sort(args, &result);
	in_time = !cancel_flag || ms_since_cancel() < 30;
	tap_ok(in_time && (status == GS_OK || status == GS_CANCELLED) && (status == GS_OK || cancel_flag),
		   "%s, cancelled after %ld us of CPU time", keys, delay_us);
	while (!cancel_flag)
		;						/* the sort was faster: let the timer go off */
	return status == GS_CANCELLED;
}

static void
test_cancel(void)
{
	static const key_shape shapes[] = {
		KEYS_UNIFORM64, KEYS_SPREAD16, KEYS_OUTLIER, KEYS_SORTED_WIDE, KEYS_REVERSE_WIDE, KEYS_ZERO,
	};
	gs_plane	plane;
	gs_sort_args args = good_args(LONG_ROWS, &plane);
	gs_sort_result result;

	args.cancel = &cancel_flag;
	cancel_flag = 1;
	tap_ok(gs_sort(&args, &result) == GS_CANCELLED, "cancelled before it began");
	args.nrows = 2;
	tap_ok(gs_sort(&args, &result) == GS_CANCELLED, "two rows, cancelled before it began");
	args.nrows = LONG_ROWS;
	signal(SIGPROF, set_cancel_flag);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		const char *name = key_shape_name(shapes[i]);
		bool		cancelled = false;

		keys_fill((uint64_t *) plane.words, LONG_ROWS, shapes[i], 1);
		for (long delay_us = 1000; delay_us <= 64000; delay_us *= 2)
			cancelled |= test_cancel_after(&args, delay_us, name);
		if (shapes[i] == KEYS_UNIFORM64 || shapes[i] == KEYS_SPREAD16)
			tap_ok(cancelled, "%s, cancelled at least once", name);
	}
	args.cancel = NULL;
	args.also_cancel = &cancel_flag;
	cancel_flag = 1;
	tap_ok(gs_sort(&args, &result) == GS_CANCELLED, "cancelled by the other flag before it began");
	keys_fill((uint64_t *) plane.words, LONG_ROWS, KEYS_UNIFORM64, 1);
	tap_ok(test_cancel_after(&args, 4000, "by the other flag"), "cancelled by the other flag");
	free_args(&args);
}

/* A cancelled sort has changed nothing: the next one succeeds. */
static void
test_repeat(void)
{
	gs_plane	plane;
	gs_sort_args args = good_args(ROWS, &plane);
	gs_sort_result result;
	const uint32_t *ids;
	bool		ordered = true;

	args.cancel = &cancel_flag;
	cancel_flag = 1;
	gs_sort(&args, &result);
	cancel_flag = 0;
	tap_ok(gs_sort(&args, &result) == GS_OK, "repeated after it was cancelled");
	ids = result.ids;
	for (int i = 1; i < ROWS; i++)
		ordered &= plane.words[ids[i - 1]] <= plane.words[ids[i]];
	tap_ok(ordered, "and in order");
	free_args(&args);
}

/* What one process needs in front of the halves of its workspace has room there, however many rows. */
static void
test_sizes(void)
{
	bool		fits = true;

	for (uint64_t nrows = UINT64_C(1) << 10; nrows <= UINT64_C(1) << 40; nrows += nrows / 3)
		fits &= gs_shared_sort_bytes(nrows, 0, 1) + gs_participant_bytes(nrows, 1) +
			2 * nrows * sizeof(uint64_t) <= gs_sort_workspace_bytes(nrows);
	tap_ok(fits, "tables fit in front of the halves");
}

int
main(void)
{
	test_refusals();
	test_sizes();
	test_texts();
	test_cancel();
	test_repeat();
	return tap_finish();
}
