/*
 * progress_test.c
 *		Progress: it rises, never beyond its stage, to its end, and moves on.
 *
 * That every sort raises it like that is part of each case (sort_case.c).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gs_engine.h"
#include "keys.h"
#include "sort_case.h"
#include "tap.h"

#define TOTAL	1000000

static bool small_run;

/* Work in equal portions, `portions` in all; counts the values seen. */
static unsigned
work(gs_progress *progress, double portion, int portions, bool *rises)
{
	int64_t		last = *progress->word;
	unsigned	values = 0;

	for (int i = 0; i < portions; i++)
	{
		gs_progress_advance(progress, portion);
		*rises &= *progress->word >= last && (double) *progress->word <= progress->end;
		values += *progress->word > last;
		last = *progress->word;
	}
	return values;
}

static void
test_plans(void)
{
	volatile int64_t word = -1;
	gs_progress progress;
	bool		rises = true;
	unsigned	values;

	gs_progress_begin(&progress, &word, TOTAL);
	tap_ok(word == 0, "it begins at 0");

	gs_progress_plan(&progress, 1000);
	values = work(&progress, 1, 500, &rises);
	tap_ok(rises && values > 200 && word > 0.49 * TOTAL && word < 0.51 * TOTAL,
		   "half of the planned work is half of the way");
	work(&progress, 1, 500, &rises);
	tap_ok(rises && word > 0.97 * TOTAL && word < TOTAL, "all of it is nearly all");
	values = work(&progress, 1, 10000, &rises);
	tap_ok(rises && values > 100 && word < TOTAL, "ten times as much keeps moving");
	gs_progress_finish(&progress);
	tap_ok(word == TOTAL, "it ends at the total");

	gs_progress_begin(&progress, &word, TOTAL);
	gs_progress_plan(&progress, 10);
	work(&progress, 1000, 1, &rises);
	tap_ok(rises && word < TOTAL, "one portion larger than the plan");
	gs_progress_begin(&progress, &word, 0);
	gs_progress_plan(&progress, 0);
	work(&progress, 1, 10, &rises);
	gs_progress_finish(&progress);
	tap_ok(rises && word == 0, "nothing to do");
}

static void
test_stages(void)
{
	volatile int64_t word;
	gs_progress progress;
	gs_progress outer;
	bool		rises = true;

	gs_progress_begin(&progress, &word, TOTAL);
	gs_progress_plan(&progress, 100);
	outer = gs_progress_enter(&progress, 25);
	gs_progress_plan(&progress, 7);
	work(&progress, 1, 70, &rises);
	tap_ok(rises && word > 0.24 * TOTAL && word < 0.25 * TOTAL, "a stage keeps to its part");
	gs_progress_leave(&progress, &outer);
	tap_ok(word == 0.25 * TOTAL, "leaving it goes to the end of the part");
	gs_progress_advance(&progress, 25);
	tap_ok(word == 0.5 * TOTAL, "what is outside goes on from there");
	outer = gs_progress_enter(&progress, 1000);
	tap_ok(word == 0.5 * TOTAL && outer.at < TOTAL, "a stage that is larger than the plan");
	gs_progress_leave(&progress, &outer);
	gs_progress_finish(&progress);
	tap_ok(word == TOTAL, "it ends at the total");

	gs_progress_begin(&progress, &word, TOTAL);
	gs_progress_plan(&progress, 30);
	for (int i = 0; i < 3; i++)
	{
		outer = gs_progress_enter(&progress, 10);
		gs_progress_leave(&progress, &outer);
	}
	tap_ok(word == TOTAL, "stages that are all that was planned go to the end");
}

/* Stages in stages, plans that are wrong by any factor. */
static bool
random_stage(gs_progress *progress, int depth, uint64_t *state)
{
	bool		rises = true;

	for (int i = 0; i < 8; i++)
	{
		uint64_t	random = random_word(state);
		double		size = (double) (random >> 8 & 0xffff);
		int64_t		before = *progress->word;

		if (random % 8 == 0)
			gs_progress_plan(progress, size);
		else if (random % 8 < 4 && depth > 0)
		{
			gs_progress outer = gs_progress_enter(progress, size);

			rises &= random_stage(progress, depth - 1, state);
			gs_progress_leave(progress, &outer);
		}
		else
			work(progress, size / 10, (int) (random >> 32) % 50, &rises);
		rises &= *progress->word >= before && (double) *progress->word <= progress->end;
	}
	return rises;
}

static void
test_random(void)
{
	uint64_t	state = 7;
	bool		passed = true;

	for (int i = 0; i < 2000; i++)
	{
		volatile int64_t word;
		gs_progress progress;
		int64_t		total = (int64_t) (random_word(&state) >> (random_word(&state) % 50 + 12));

		gs_progress_begin(&progress, &word, total);
		passed &= random_stage(&progress, 3, &state);
		gs_progress_finish(&progress);
		passed &= word == total;
	}
	tap_ok(passed, "random stages and plans");
}

static void
test_nobody_looks(void)
{
	gs_progress outer;

	gs_progress_begin(NULL, NULL, 1);
	gs_progress_plan(NULL, 1);
	gs_progress_advance(NULL, 1);
	outer = gs_progress_enter(NULL, 1);
	gs_progress_leave(NULL, &outer);
	gs_progress_finish(NULL);
	tap_ok(true, "no progress to be told");
}

/* A large sort tells of itself, whatever its rows are: some are a million, some fewer. */
static void
test_sorts(void)
{
	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		bool		fewer = small_run || shape % 8 != 0;
		sort_case	c = {
			.nrows = fewer ? 150001 : 1000003,
			.nplanes = 2,
			.id_bytes = 4,
			.want_equal = true,
			.seed = 11,
		};
		bool		passed;

		c.planes[0].keys = (key_shape) shape;
		c.planes[1].keys = (key_shape) (shape * 7 % KEY_SHAPES);
		passed = sort_case_passes(&c, NULL);
		tap_ok(passed && sort_case_steps() >= (fewer ? 12 : 40), "%s: %u steps",
			   key_shape_name((key_shape) shape), sort_case_steps());
	}
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	test_plans();
	test_stages();
	test_random();
	test_nobody_looks();
	test_sorts();
	return tap_finish();
}
