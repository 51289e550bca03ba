/*
 * key_run.c
 *		Ordering a run of rows by one word of their keys; see refine_private.h.
 *
 * The words of a run are fetched once, with prefetching, and sorted without touching the rows
 * again: on the stack if the run is short, by the engine if it is long.  If the whole run agrees in
 * a word, it is not sorted by that word, and everything that its strings have in common is skipped
 * in one go.  If a run has very many rows, a team looks for what its strings have in common,
 * fetches its words, and sorts them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "interrupts.h"
#include "prefetch.h"
#include "sort/keys_private.h"
#include "sort/order_private.h"
#include "sort/refine_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/* How many rows ahead references, and then strings, are prefetched. */
#define REF_AHEAD		16
#define STRING_AHEAD	8

/* How many stretches a run that a team looks at has for each process. */
#define RUN_PIECES_EACH	16

StaticAssertDecl(SMALL_RUN % 64 == 0, "bits of a small run fill words");

typedef struct WordAndId
{
	uint64		word;
	uint32		id;
} WordAndId;

#define ST_SORT sort_words
#define ST_ELEMENT_TYPE WordAndId
#define ST_COMPARE(a, b) \
	((a)->word < (b)->word ? -1 : (a)->word > (b)->word ? 1 : \
	 (a)->id < (b)->id ? -1 : (a)->id > (b)->id ? 1 : 0)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Returns the key word of a row's string that begins at byte `from`, complemented for descending
 * order.  Sets *longer if the string has bytes there.
 */
static inline uint64
string_word(const char *base, const GpuSortColumn *column, uint32 id, uint32 from, bool *longer)
{
	uint64		ref = RANGE_U64(column->refs)[id];
	uint32		len = KEY_REF_LENGTH(ref);

	/* a string that fits its first word is stored nowhere else */
	if (from == 0)
	{
		*longer |= len > 0;
		return RANGE_U64(column->prefix)[id];
	}
	if (len <= from)
		return column->flip;
	*longer = true;
	return bytes_word(column->bytes, string_by_ref(base, ref), len, from) ^ column->flip;
}

/*
 * Fetches the words at `place` of the rows ids[0..n-1] into words[], which are `stride` bytes
 * apart.
 */
static RunWords
fetch_words(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n,
			uint64 *words, size_t stride)
{
	const GpuSortColumn *column = &sort->keys.columns[place->column];
	const char *base = sort->rows.places.base;
	RunWords	found = {.same = true};
	bool		tids = place_is_end(sort, place);

	if (place_is_made(place))
		return gpusort_fetch_made_words(sort, place, ids, n, words, stride);
	for (uint32 i = 0; i < n; i++)
	{
		uint64		word;

		if ((i + 1) % GPUSORT_INTERRUPT_ROWS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(sort->progress, GPUSORT_INTERRUPT_ROWS * GPUSORT_TIED_COST);
		}
		if (tids)
		{
			if (i + STRING_AHEAD < n)
				prefetch_line(gpusort_row_at(&sort->rows.places, ids[i + STRING_AHEAD]));
			word = tid_word(&((IndexTuple) gpusort_row_at(&sort->rows.places, ids[i]))->t_tid);
		}
		else if (place_is_string(place))
		{
			const uint64 *refs = RANGE_U64(column->refs);

			if (i + REF_AHEAD < n)
				prefetch_line(&refs[ids[i + REF_AHEAD]]);
			if (i + STRING_AHEAD < n)
				prefetch_line(string_by_ref(base, refs[ids[i + STRING_AHEAD]]) + place->byte);
			word = string_word(base, column, ids[i], place->byte, &found.longer);
		}
		else
		{
			word = RANGE_U64(column->words[place->word])[ids[i]];
			if (i + REF_AHEAD < n)
				prefetch_line(&RANGE_U64(column->words[place->word])[ids[i + REF_AHEAD]]);
		}
		if (i == 0)
			found.first = word;
		found.same &= word == found.first;
		*words = word;
		words = (uint64 *) ((char *) words + stride);
	}
	gs_progress_advance(sort->progress, n % GPUSORT_INTERRUPT_ROWS * GPUSORT_TIED_COST);
	return found;
}

/*
 * Returns memory for one word of each row of a run: the run's part, by position, of a plane that
 * the engine has already sorted by.  Other processes may use other parts for other runs at the same
 * time.
 */
static uint64 *
scratch_of_run(const GpuSort *sort, const uint32 *ids)
{
	const GpuSortColumn *column = &sort->keys.columns[Max(sort->keys.refine_column, 0)];
	uint64	   *plane = RANGE_U64(column->prefix != NULL ? column->prefix : column->words[0]);

	return plane + (ids - sort->order.ids);
}

/* ---------- a run that has so many rows that a team looks at them ---------- */

/*
 * Before heavy runs are broken up there is nothing to do for the other processes of a team, so they
 * help to look at the strings of such a run.  The process that has the sort goes on with what all
 * have found.
 */

bool
gpusort_key_run_is_shared(GpuSort *sort, uint32 n)
{
	return !sort->is_borrowed && sort->team.job == NULL &&
		gpusort_kept_keys(sort) == sort->keys.room_begin && n > SMALL_RUN &&
		gpusort_may_deal_out(sort, n);
}

/*
 * Deals a run out to the team.  Each stretch begins with the last row of the one before, so that
 * what all rows of each stretch have in common, all rows of the run have.  Returns NULL if this
 * process has to look at the run alone.
 */
static TeamStretches *
deal_out_run(GpuSort *sort, TeamJobKind kind, const KeyPlace *place, const uint32 *ids, uint32 n)
{
	uint64		begin = ids - sort->order.ids;
	uint64		each;
	uint32		count = 0;
	TeamStretch *stretches;
	TeamStretches *job;

	if (!gpusort_key_run_is_shared(sort, n))
		return NULL;
	each = n / (sort->team.participants * RUN_PIECES_EACH) + 2;
	stretches = palloc((n / (each - 1) + 1) * sizeof(TeamStretch));
	for (uint64 from = 0; from + 1 < n; from += each - 1)
		stretches[count++] = (TeamStretch) {begin + from, begin + Min(from + each, n), *place};
	job = gpusort_deal_out(sort, kind, stretches, count);
	pfree(stretches);
	return job;
}

static void
look_at_stretch(GpuSort *sort, TeamStretches *job, const TeamStretch *stretch)
{
	const KeyPlace *place = &stretch->place;
	const uint32 *ids = sort->order.ids + stretch->from;
	uint32		n = (uint32) (stretch->to - stretch->from);
	bool		same;

	if (job->job.kind == TEAM_JOB_WORDS)
	{
		RunWords	found = fetch_words(sort, place, ids, n, scratch_of_run(sort, ids),
										sizeof(uint64));

		same = found.same;
		if (found.refused)
			pg_atomic_write_u32(&job->refused, true);
	}
	else
	{
		uint32		shared = gpusort_key_shared_bytes(sort, &sort->keys.columns[place->column], ids,
													  n, place->rest, &same);
		uint32		least = pg_atomic_read_u32(&job->shared);

		while (shared < least &&
			   !pg_atomic_compare_exchange_u32(&job->shared, &least, shared))
			;
	}
	if (!same)
		pg_atomic_write_u32(&job->differ, true);
}

void
gpusort_look_at_stretches(GpuSort *sort, TeamStretches *job)
{
	TeamStretch stretch;

	while (gpusort_take_stretch(job, &stretch))
		if (!pg_atomic_read_u32(&job->refused))
			look_at_stretch(sort, job, &stretch);
}

/*
 * Has the team fetch the words of a run into scratch_of_run().  Returns false if this process has
 * to do it, also because all words have turned out to be the same.
 */
static bool
fetch_by_team(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n, RunWords *found)
{
	TeamStretches *job = deal_out_run(sort, TEAM_JOB_WORDS, place, ids, n);

	if (job == NULL)
		return false;
	gpusort_look_at_stretches(sort, job);
	gpusort_await_stretches(sort);
	*found = (RunWords) {
		.same = !pg_atomic_read_u32(&job->differ),.refused = pg_atomic_read_u32(&job->refused) != 0
	};
	gpusort_team_withdraw(sort);
	return found->refused || !found->same;
}

uint32
gpusort_key_run_shared_bytes(GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n,
							 bool *same)
{
	TeamStretches *job = deal_out_run(sort, TEAM_JOB_SHARED, place, ids, n);
	uint32		shared;

	if (job == NULL)
		return gpusort_key_shared_bytes(sort, &sort->keys.columns[place->column], ids, n,
										place->rest, same);
	gpusort_look_at_stretches(sort, job);
	gpusort_await_stretches(sort);
	shared = pg_atomic_read_u32(&job->shared);
	*same = !pg_atomic_read_u32(&job->differ);
	gpusort_team_withdraw(sort);
	return shared;
}

/*
 * Has the engine sort a run by the words that were fetched.  If there are very many, the team does
 * that, whose processes can see words, if not the keys that these were taken from.
 */
static void
sort_words_of_run(GpuSort *sort, gs_sort_args *args, gs_sort_result *result)
{
	bool		sorted = false;

	if (!sort->is_borrowed && sort->team.team != NULL && sort->team.job == NULL &&
		gpusort_team_pays((double) args->nrows))
	{
		sorted = gpusort_team_run(sort, args, result);
		gpusort_team_withdraw(sort);
		sort->stats.team_runs += sorted;
	}
	if (!sorted)
		gpusort_host_engine_run(args, result);
}

/* ---------- one process ---------- */

/* Does gpusort_sort_run() for a short run, as (word, id) pairs on the stack. */
static RunWords
sort_small_run(GpuSort *sort, const KeyPlace *place, uint32 *ids, uint32 n, uint64 *equal)
{
	WordAndId	items[SMALL_RUN];
	RunWords	found;

	found = fetch_words(sort, place, ids, n, &items[0].word, sizeof(WordAndId));
	if (found.same || found.refused)
		return found;

	for (uint32 i = 0; i < n; i++)
		items[i].id = ids[i];
	sort_words(items, n);
	memset(equal, 0, SMALL_RUN / 8);
	for (uint32 i = 0; i < n; i++)
	{
		ids[i] = items[i].id;
		if (i > 0 && items[i].word == items[i - 1].word)
			equal[i / 64] |= UINT64CONST(1) << (i % 64);
	}
	return found;
}

/*
 * Does gpusort_sort_run() for a long run, by the engine.  The words, and then the sorted ids, lie
 * in scratch_of_run().
 */
static RunWords
sort_large_run(GpuSort *sort, const KeyPlace *place, uint32 *ids, uint32 n, uint64 *equal)
{
	uint64	   *words = scratch_of_run(sort, ids);
	uint32	   *sorted = (uint32 *) words;
	RunWords	found;
	gs_plane	plane = {.words = words};
	gs_sort_args args = {
		.nrows = n,
		.nplanes = 1,
		.planes = &plane,
		.id_bytes = sizeof(uint32),
		.workspace = sort->order.scratch,
		.workspace_bytes = sort->order.scratch_bytes,
		.equal = equal,
		.progress = sort->progress,
	};
	gs_sort_result result;
	gs_progress outer;

	if (!fetch_by_team(sort, place, ids, n, &found))
		found = fetch_words(sort, place, ids, n, words, sizeof(uint64));
	if (found.same || found.refused)
		return found;
	outer = gs_progress_enter(sort->progress, n * GPUSORT_TIED_COST);
	sort_words_of_run(sort, &args, &result);
	gs_progress_leave(sort->progress, &outer);
	for (uint32 i = 0; i < n; i++)
		sorted[i] = ids[((const uint32 *) result.ids)[i]];
	memcpy(ids, sorted, n * sizeof(uint32));
	return found;
}

RunWords
gpusort_sort_run(GpuSort *sort, const KeyPlace *place, uint32 *ids, uint32 n, uint64 *equal)
{
	return n <= SMALL_RUN ? sort_small_run(sort, place, ids, n, equal) :
		sort_large_run(sort, place, ids, n, equal);
}

uint32
gpusort_split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids, uint32 n)
{
	uint32	   *sorted = (uint32 *) scratch_of_run(sort, ids);
	uint32		nnulls = 0;
	uint32		null_at;
	uint32		value_at;

	for (uint32 i = 0; i < n; i++)
		nnulls += column_is_null(column, ids[i]);
	if (nnulls == 0)
		return 0;
	null_at = column->nulls_first ? 0 : n - nnulls;
	value_at = column->nulls_first ? nnulls : 0;
	for (uint32 i = 0; i < n; i++)
		sorted[column_is_null(column, ids[i]) ? null_at++ : value_at++] = ids[i];
	memcpy(ids, sorted, n * sizeof(uint32));
	return nnulls;
}

bool
gpusort_skip_same(GpuSort *sort, const RunWords *found, const uint32 *ids, uint32 n,
				  KeyPlace *place)
{
	if (place_is_string(place) && found->longer)
	{
		const GpuSortColumn *column = &sort->keys.columns[place->column];
		uint32		common = place->byte == 0 ? 0	/* the first word, in the prefix plane */
			: place->source == KEY_MADE ? found->common
			: gpusort_key_shared_bytes(sort, column, ids, n, place->byte, NULL);

		place->byte += Max(common, bytes_per_word(column->bytes));
		return true;
	}
	return gpusort_next_part(sort, place);
}
