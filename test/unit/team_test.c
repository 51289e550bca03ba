/*
 * team_test.c
 *		The engine on the host by several participants: who they are makes no difference.
 *
 * Built with buckets of few rows, so that some thousand rows take part in everything, and run under
 * the thread sanitizer, too.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "case_data.h"
#include "engine/host/gs_sort_private.h"
#include "sort_case.h"
#include "sort_team.h"
#include "tap.h"

#define MAX_TEAM	16
#define ROWS		6000

static bool small_run;

/* Shapes that spread over buckets, and those that heap up in few. */
static void
test_teams(void)
{
	for (unsigned participants = 1; participants <= MAX_TEAM; participants += small_run ? 5 : 1)
	{
		bool		passed = true;

		for (int shape = 0; shape < KEY_SHAPES; shape++)
		{
			sort_case	c = {
				.nrows = ROWS + (uint64_t) shape,
				.nplanes = 1 + (unsigned) shape % 3,
				.id_bytes = shape % 2 == 0 ? 4 : 8,
				.want_equal = shape % 3 != 0,
				.participants = participants,
				.seed = (uint64_t) shape * 31 + participants,
			};

			for (unsigned p = 0; p < c.nplanes; p++)
				c.planes[p] = (case_plane) {
					.keys = (key_shape) ((shape + p * 5) % KEY_SHAPES),
					.nulls = (null_shape) ((shape + p) % NULL_SHAPES),
					.order = GS_NULLS_LAST,
				};
			passed &= sort_case_passes(&c, NULL);
		}
		tap_ok(passed, "all shapes by %u participants", participants);
	}
}

/* So few rows that each participant hardly has a task: none works in another's memory. */
static void
test_few_rows(void)
{
	for (unsigned participants = 2; participants <= MAX_TEAM; participants++)
	{
		bool		passed = true;

		for (uint64_t nrows = 64; nrows < 80 * participants; nrows += small_run ? 23 : 3)
		{
			sort_case	c = {
				.nrows = nrows,
				.nplanes = 2,
				.id_bytes = 4,
				.want_equal = true,
				.participants = participants,
				.seed = nrows * 31 + participants,
				.planes = {
					{.keys = KEYS_UNIFORM8, .nulls = NULLS_ABSENT},
					{.keys = KEYS_UNIFORM64, .nulls = NULLS_ABSENT},
				},
			};

			passed &= sort_case_passes(&c, NULL);
		}
		tap_ok(passed, "few rows by %u participants", participants);
	}
}

/* Planes that tie on all but the last: nodes in every round, and what is left after all rounds. */
static void
test_nodes(void)
{
	static const key_shape shapes[] = {KEYS_ZERO, KEYS_TWO_VALUES, KEYS_STAIRCASE, KEYS_ZIPF2, KEYS_EXTREMES};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		bool		passed = true;

		for (unsigned nplanes = 1; nplanes <= 33; nplanes += 8)
		{
			sort_case	c = {
				.nrows = ROWS,
				.nplanes = nplanes,
				.id_bytes = 4,
				.want_equal = nplanes % 2 == 1,
				.participants = 5,
				.seed = nplanes,
			};

			for (unsigned p = 0; p < nplanes; p++)
				c.planes[p].keys = shapes[i];
			passed &= sort_case_passes(&c, NULL);
			c.planes[nplanes - 1].keys = KEYS_UNIFORM64;
			passed &= sort_case_passes(&c, NULL);
		}
		tap_ok(passed, "%s in many planes", key_shape_name(shapes[i]));
	}
}

/* A sort of one plane. */
typedef struct plain_sort
{
	gs_plane	plane;
	gs_sort_args args;
	gs_shared_sort *shared;
	void	   *memory;
} plain_sort;

static void *
allocate(size_t bytes)
{
	return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void
begin_plain(plain_sort *sort, key_shape shape, unsigned participants)
{
	uint64_t   *words = allocate(ROWS * sizeof(uint64_t));

	keys_fill(words, ROWS, shape, 1);
	sort->plane = (gs_plane) {.words = words};
	sort->args = (gs_sort_args) {
		.nrows = ROWS,
		.nplanes = 1,
		.planes = &sort->plane,
		.id_bytes = 4,
		.workspace_bytes = gs_sort_workspace_bytes(ROWS),
	};
	sort->args.workspace = allocate(sort->args.workspace_bytes);
	sort->shared = allocate(gs_shared_sort_bytes(ROWS, 1, participants));
	sort->memory = allocate(gs_participant_bytes(ROWS, participants));
	if (gs_shared_sort_init(sort->shared, &sort->args, participants) != GS_OK)
		abort();
}

static void
end_plain(plain_sort *sort)
{
	free((void *) sort->plane.words);
	free(sort->args.workspace);
	free(sort->shared);
	free(sort->memory);
}

static void
test_refusals(void)
{
	plain_sort	sort;
	gs_sort_args args;

	begin_plain(&sort, KEYS_UNIFORM64, 1);
	args = sort.args;
	tap_ok(gs_shared_sort_init(sort.shared, &args, 0) == GS_INVALID, "no participants");
	tap_ok(gs_shared_sort_init(sort.shared, &args, GS_MAX_PARTICIPANTS + 1) == GS_INVALID,
		   "too many participants");
	args.workspace_bytes--;
	tap_ok(gs_shared_sort_init(sort.shared, &args, 1) == GS_NO_SPACE, "workspace too small");
	tap_ok(gs_shared_sort_bytes(UINT64_MAX, 1, 1) == SIZE_MAX, "too many rows");
	tap_ok(gs_shared_sort_init(sort.shared, &sort.args, 1) == GS_OK, "begun again");
	tap_ok(gs_participant_begin(sort.memory, sort.shared, &sort.args) != NULL, "the first one");
	tap_ok(gs_participant_begin(sort.memory, sort.shared, &sort.args) == NULL, "one too many");
	tap_ok(gs_shared_sort_participants(sort.shared) == 1, "counted");
	end_plain(&sort);
}

/* Buckets are cut by a sample of the words where their leading bits say little, and only there. */
static void
test_splitters(void)
{
	static const struct
	{
		key_shape	shape;
		bool		wanted;
	}			cases[] = {
		{KEYS_UNIFORM64, false}, {KEYS_SORTED, false}, {KEYS_ZERO, false},
		{KEYS_TWO_VALUES, false}, {KEYS_OUTLIER, true}, {KEYS_AND4, true}, {KEYS_AND8, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		plain_sort	sort;
		gs_participant *participant;
		uint32_t	phase = 0;

		begin_plain(&sort, cases[i].shape, 2);
		participant = gs_participant_begin(sort.memory, sort.shared, &sort.args);
		while (!gs_shared_sort_done(sort.shared, phase))
			if (gs_participate(participant, phase++) != GS_OK)
				abort();
		tap_ok(sort.shared->by_splitters == cases[i].wanted, "%s: cut by %s",
			   key_shape_name(cases[i].shape), cases[i].wanted ? "a sample" : "leading bits");
		end_plain(&sort);
	}
}

/* Cancelled in each phase: others see it, and the planes are as they were. */
static void
test_cancel(key_shape shape)
{
	volatile int flag = 0;
	uint32_t	all_phases = UINT32_MAX;
	bool		stopped = true;

	/* not in the last one, in which nobody works */
	for (uint32_t stop = 0; stop < all_phases; stop++)
	{
		uint32_t	phases;
		plain_sort	sort;
		gs_participant *participant;
		gs_status	status = GS_OK;
		gs_sort_result result;

		begin_plain(&sort, shape, 2);
		sort.args.cancel = &flag;
		participant = gs_participant_begin(sort.memory, sort.shared, &sort.args);
		for (phases = 0; status == GS_OK && !gs_shared_sort_done(sort.shared, phases); phases++)
		{
			flag = stop > 0 && phases >= stop - 1;
			status = gs_participate(participant, phases);
		}
		stopped &= stop == 0 ? status == GS_OK : status == GS_CANCELLED;
		if (stop > 0)
		{
			void	   *memory = allocate(gs_participant_bytes(ROWS, 2));
			gs_participant *other;

			flag = 0;
			other = gs_participant_begin(memory, sort.shared, &sort.args);
			stopped &= gs_participate(other, phases / 2 * 2) == GS_CANCELLED;
			free(memory);
		}
		flag = 0;
		stopped &= sort_by_team(&sort.args, 2, false, &result) == GS_OK;
		end_plain(&sort);
		if (stop == 0)
			all_phases = phases;
	}
	tap_ok(stopped, "%s cancelled in each phase, and repeated", key_shape_name(shape));
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	test_refusals();
	test_teams();
	test_few_rows();
	test_nodes();
	test_splitters();
	test_cancel(KEYS_UNIFORM64);
	test_cancel(KEYS_AND8);
	return tap_finish();
}
