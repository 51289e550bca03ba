/*
 * sort_case.c
 *		One call of gs_sort() on generated planes, checked in every respect.
 *
 * The expected order is computed from copies of the planes before the engine
 * runs.  Everything the engine gets lies between red zones.
 *
 * Every step of the engine's progress is seen here: the linker is told to have
 * gs_progress_tell() called through us.  The engine is given the middle third of a
 * word's range.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gs_layout.h"

#include "case_data.h"
#include "reference.h"
#include "sort_case.h"
#include "sort_team.h"
#include "tap.h"

typedef struct progress_watch
{
	int64_t		word;
	int64_t		last;			/* seen */
	unsigned	steps;
	bool		fallen;
} progress_watch;

static progress_watch watch;

extern void __real_gs_progress_tell(gs_progress *progress);
extern void __wrap_gs_progress_tell(gs_progress *progress);

void
__wrap_gs_progress_tell(gs_progress *progress)
{
	__real_gs_progress_tell(progress);
	watch.fallen |= watch.word < watch.last;
	watch.steps += watch.word > watch.last;
	watch.last = watch.word;
}

unsigned
sort_case_steps(void)
{
	return watch.steps;
}

/* The stage of gs_sort(): from nrows to 2 * nrows. */
static void
begin_progress(gs_progress *progress, const sort_case *c)
{
	watch = (progress_watch) {.word = -1};
	gs_progress_begin(progress, &watch.word, (int64_t) (3 * c->nrows));
	gs_progress_plan(progress, 3);
	progress->at = progress->end / 3;
	progress->end *= 2.0 / 3;
	watch.last = (int64_t) c->nrows;
}

static bool
ids_inside(const gs_sort_result *result, const guarded *workspace, const sort_case *c)
{
	const unsigned char *begin = result->ids;
	const unsigned char *data = guarded_data(workspace);

	return begin >= data && begin + c->nrows * c->id_bytes <= data + workspace->bytes;
}

/*
 * Sort by gs_sort(), or by so many participants, of whom half come late in every third call: each
 * case makes two calls, and four of seven cases any (team_for()), so that each kind of call, and
 * each number of participants, is met by both.
 */
static gs_status
sort_by(unsigned participants, const gs_sort_args *args, gs_sort_result *result)
{
	static unsigned calls = 0;

	if (participants == 0)
		return gs_sort(args, result);
	return sort_by_team(args, participants, ++calls % 3 == 0, result);
}

/* NULL if all is well. */
static const char *
find_fault(const sort_case *c, const case_data *data, const uint64_t *expected_ids,
		   const uint64_t *expected_equal, unsigned participants, gs_sort_result *result)
{
	size_t		equal_bytes = (c->nrows + 63) / 64 * sizeof(uint64_t);
	guarded		workspace = guarded_alloc(gs_sort_workspace_bytes(c->nrows));
	guarded		equal = guarded_alloc(equal_bytes);
	const char *fault = NULL;
	gs_progress progress;
	gs_sort_args args = {
		.nrows = c->nrows,
		.nplanes = c->nplanes,
		.planes = data->planes,
		.id_bytes = c->id_bytes,
		.workspace = guarded_data(&workspace),
		.workspace_bytes = workspace.bytes,
		.equal = c->want_equal ? guarded_data(&equal) : NULL,
		.progress = &progress,
	};

	begin_progress(&progress, c);
	if (sort_by(participants, &args, result) != GS_OK)
		fault = "status";
	else if (!ids_inside(result, &workspace, c))
		fault = "ids outside of the workspace";
	else if (case_first_difference(result->ids, expected_ids, c) < c->nrows)
		fault = "order";
	else if (c->want_equal && memcmp(guarded_data(&equal), expected_equal, equal_bytes) != 0)
		fault = "equal bitmap";
	else if (!guarded_intact(&workspace) || !guarded_intact(&equal))
		fault = "red zones";
	else if (!case_data_untouched(data, c))
		fault = "planes changed";
	else if (watch.fallen || watch.last > watch.word || watch.word != (int64_t) (2 * c->nrows))
		fault = "progress";
	guarded_free(&workspace);
	guarded_free(&equal);
	return fault;
}

/* Is this word, or null, what a key says of a row? */
static bool
key_tells(const gs_unpacking *unpacking, const gs_plane *plane, uint64_t key, uint64_t row)
{
	bool		is_null = plane->nulls != NULL && plane->null_order != GS_NULLS_NONE &&
		(plane->nulls[row >> 6] >> (row & 63) & 1) != 0;

	if (plane->nulls != NULL && plane->null_order == GS_NULLS_NONE)
		return true;
	/* of a plane of nulls only keys say nothing */
	if (is_null)
		return gs_unpack_is_null(unpacking, key) || unpacking->width + unpacking->flag == 0;
	return !gs_unpack_is_null(unpacking, key) && gs_unpack_word(unpacking, key) == plane->words[row];
}

/* Any word of the plane that counts. */
static uint64_t
word_of(const gs_plane *plane, uint64_t nrows)
{
	for (uint64_t row = 0; row < nrows; row++)
		if (plane->nulls == NULL || (plane->nulls[row >> 6] >> (row & 63) & 1) == 0)
			return plane->words[row];
	return 0;
}

/* The keys of all rows in order, from which their words can be had, but for those that are numbered. */
static const char *
find_fault_of_keys(const gs_sort_result *result, const sort_case *c, const case_data *data,
				   const uint64_t *expected_ids)
{
	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const gs_plane *plane = &data->planes[p];
		gs_unpacking unpacking = gs_layout_find_word(result->layout, p,
													 word_of(plane, c->nrows));

		for (uint64_t i = 0; plane->numbering == NULL && i < c->nrows; i++)
			if (!key_tells(&unpacking, plane, result->keys[i], expected_ids[i]))
				return "keys";
	}
	return NULL;
}

/* The same sort once more, by keys only.  NULL if all is well. */
static const char *
find_fault_by_keys(const sort_case *c, const case_data *data, const uint64_t *expected_ids,
				   unsigned participants)
{
	guarded		workspace = guarded_alloc(gs_sort_workspace_bytes(c->nrows));
	const char *fault = NULL;
	gs_sort_result result;
	gs_sort_args args = {
		.nrows = c->nrows,
		.nplanes = c->nplanes,
		.planes = data->planes,
		.id_bytes = c->id_bytes,
		.want_keys = true,
		.workspace = guarded_data(&workspace),
		.workspace_bytes = workspace.bytes,
	};

	if (sort_by(participants, &args, &result) != GS_OK)
		fault = "status by keys";
	else if ((result.keys != NULL) != (result.key_bits > 0 && result.key_bits <= 64))
		fault = "keys or ids";
	else if (result.keys != NULL)
		fault = find_fault_of_keys(&result, c, data, expected_ids);
	else if (case_first_difference(result.ids, expected_ids, c) < c->nrows)
		fault = "order by keys";
	if (fault == NULL && !guarded_intact(&workspace))
		fault = "red zones by keys";
	guarded_free(&workspace);
	return fault;
}

/*
 * How many sort it once more, or 0: threads take longer than many a case, so some do without
 * them.  Tests make cases in pairs, threes and eights, with none of which seven has a divisor in
 * common: each of theirs meets every number.
 */
static unsigned
team_for(const sort_case *c)
{
	static const unsigned teams[] = {0, 1, 0, 2, 0, 3, 7};
	static unsigned cases = 0;

	return c->participants > 0 ? c->participants
		: teams[cases++ % (sizeof(teams) / sizeof(teams[0]))];
}

bool
sort_case_passes(const sort_case *c, gs_sort_result *result)
{
	case_data  *data = calloc(1, sizeof(*data));
	uint64_t   *ids = malloc((c->nrows + 1) * sizeof(uint64_t));
	uint64_t   *equal = malloc((c->nrows + 64) / 64 * sizeof(uint64_t));
	gs_sort_result own_result;
	const char *fault;
	unsigned	team = team_for(c);

	case_data_fill(data, c);
	reference_sort(ids, equal, data->copies, c->nplanes, c->nrows);
	fault = team > 0 ? find_fault(c, data, ids, equal, team, &own_result) : NULL;
	if (fault == NULL && team > 0)
		fault = find_fault_by_keys(c, data, ids, team);
	if (fault != NULL)
		tap_note("by %u participants:", team);
	if (fault == NULL)
		fault = find_fault(c, data, ids, equal, 0, result != NULL ? result : &own_result);
	if (fault == NULL)
		fault = find_fault_by_keys(c, data, ids, 0);
	if (fault != NULL)
		case_describe(c, fault);
	case_data_free(data, c);
	free(data);
	free(ids);
	free(equal);
	return fault == NULL;
}
