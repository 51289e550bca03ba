/*
 * key_refine.c
 *		Ties on key prefixes (GPUTeraSort's wide keys, section 4.3).
 *
 * The engine sorts by fixed-width planes.  Where the strings of a column go on
 * beyond their first word, that word decides all but the rows that agree in it,
 * and nothing behind it may take part.  So the engine gets the planes up to and
 * including the first such prefix and marks which neighbours are equal in them;
 * here every run of equal rows is put in order by what follows: the next word
 * of the string, then the remaining columns, and so on, word by word, for the
 * rows that are still tied only.
 *
 * Three things keep that cheap.  Leading bytes that all strings of a column
 * share are left out of the prefix to begin with (key_planes.c).  A
 * word in which a whole run agrees is not sorted by: the run's common prefix is
 * skipped in one go.  And the words of a run are fetched once, and sorted without
 * touching the rows again (key_run.c).
 *
 * A sort step splits its run or moves the position forward, so it ends.  The
 * recursion enters all subruns of equal words but the largest, and the nulls of a
 * column with the columns behind it, so its depth is at most the number of
 * columns plus log2 of the number of rows.
 *
 * The order of equal rows is that of their ids, here as in the engine.  In an
 * index build it is that of their TIDs, which is another one if rows did not come
 * in that order: then TIDs are what is behind the last column.  And if the sort is to tell which
 * rows are equal, the runs that get there are marked in the equal bitmap, in which only they are
 * left.
 *
 * Where a team waits for the order, stretches of it are refined by all (team_stretches.h), by the
 * same code.
 *
 * Strings of lazy codecs get their keys here, one run at a time, unless all
 * strings of the run are the same anyway.  Keys of a run that is too long for them to be kept are
 * made again for each word (key_made.c).  If one can't be made, the run is sorted by comparison.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "prefetch.h"
#include "sort/key_made.h"
#include "sort/key_refine.h"
#include "sort/key_run.h"
#include "sort/key_strings.h"
#include "sort/row_store.h"
#include "sort/sort_compare.h"
#include "sort/sort_memory.h"
#include "sort/sort_progress.h"
#include "sort/team_job.h"

/* Keys are made for one word so often, before the rows that still tie are compared instead. */
#define MAX_PASSES		32

/*
 * A process that helps to refine leaves a run to the one that has the sort, whose keys find room in the
 * pool, when it has made keys so often without room to keep them.
 */
#define LEAVE_PASSES	2

/*
 * Stretches for each process of a team, so that all end at about the same time; and no shorter
 * ones.
 */
#define PIECES_EACH		16
#define MIN_PIECE_ROWS	512

/* Stretches that a list has room for at first. */
#define MIN_LIST		64

/* Words of the bitmap that are told as progress at a time (a power of two, less one). */
#define SWEEP_MASK		0xff

/*
 * Mark the rows of a run, which have equal keys, as equal to their predecessors,
 * and order those of an index by TID.
 */
static void
finish_equal_run(GpuSort *sort, const KeyPlace *end, uint32 *ids, uint32 n)
{
	uint64		first = ids - sort->order.ids;
	uint64		small_equal[SMALL_RUN / 64];

	gpusort_mark_equal(RANGE_U64(sort->order.equal), first + 1, first + n, true);
	if (!sort->index_rows || sort->index.tids_ordered)
		return;
	gpusort_sort_run(sort, end, ids, n, n <= SMALL_RUN ? small_equal : NULL);
}

static void refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place);

/*
 * Refine the subruns of equal words, all but the largest, which is left to the
 * caller.  Returns its length, and its start in *largest.
 */
static uint32
refine_subruns(GpuSort *sort, uint32 *ids, uint32 n, const uint64 *equal, KeyPlace place,
			   uint32 *largest)
{
	uint32		largest_n = 0;

	for (uint32 start = 0, end; start < n; start = end)
	{
		uint32		len;

		for (end = start + 1; end < n && (equal[end / 64] >> (end % 64) & 1) != 0;)
			end++;
		len = end - start;
		if (len > largest_n && len > 1)
		{
			uint32		previous = *largest;
			uint32		previous_n = largest_n;

			*largest = start;
			largest_n = len;
			start = previous;
			len = previous_n;
		}
		if (len > 1)
			refine_run(sort, ids + start, len, place);
	}
	return largest_n;
}

/* Order the nulls of a column that begins at the place, and leave the others to the caller. */
static void
refine_nulls(GpuSort *sort, uint32 **ids, uint32 *n, KeyPlace place)
{
	const GpuSortColumn *column = &sort->keys.columns[place.column];
	uint32		nnulls = gpusort_split_nulls(sort, column, *ids, *n);
	uint32	   *nulls = column->nulls_first ? *ids : *ids + (*n - nnulls);

	if (nnulls > 1 && gpusort_next_column(sort, &place))
		refine_run(sort, nulls, nnulls, place);
	*n -= nnulls;
	if (column->nulls_first)
		*ids += nnulls;
}

/*
 * At a place where strings have no keys, find words of what they don't share.  False if the run is
 * not to be sorted by words there: the place has moved on, or *n is 0, as the run is in order.
 */
static bool
find_words(GpuSort *sort, KeyPlace *place, uint32 *ids, uint32 *n, GpuSortKeptKeys others)
{
	if (!gpusort_skip_shared(sort, place, ids, *n))
	{
		if (!gpusort_next_part(sort, place))
			*n = 0;
		return false;
	}
	/* what this run has kept is of columns before this one, and has done its work */
	gpusort_forget_kept_keys(sort, others);
	if (place->source == KEY_MADE)
		gpusort_keep_keys(sort, place, ids, *n);
	if (place->source != KEY_MADE)
		return true;
	if (place->passes < LEAVE_PASSES || !gpusort_leave_run(sort, ids, *n, *place))
	{
		if (place->passes++ < MAX_PASSES)
			return true;
		gpusort_sort_run_by_comparison(sort, ids, *n);
	}
	*n = 0;
	return false;
}

/* A run of rows that agree in everything before a place. */
typedef struct Run
{
	uint32	   *ids;
	uint32		n;
	KeyPlace	place;
} Run;

/*
 * Sort a run by its words at the place, or move the place forward; the nulls of a column are put
 * in order and leave the run, and it is empty when it is in order.  True if it has fallen into
 * runs of equal words, which equal[] tells, with room for its rows and SMALL_RUN at least, and the
 * place is where these go on.
 */
static bool
refine_step(GpuSort *sort, Run *run, uint64 *equal, GpuSortKeptKeys others)
{
	KeyPlace   *place = &run->place;
	RunWords	found;

	if (place_is_end(sort, place))
	{
		finish_equal_run(sort, place, run->ids, run->n);
		run->n = 0;
		return false;
	}
	if (sort->keys.columns[place->column].nulls != NULL && gpusort_place_begins_column(sort, place))
		refine_nulls(sort, &run->ids, &run->n, *place);
	if (run->n < 2 || (place_is_made(place) && !find_words(sort, place, run->ids, &run->n, others)))
		return false;
	found = gpusort_sort_run(sort, place, run->ids, run->n, equal);
	if (place_is_made(place) && place->source == KEY_KNOWN && (found.refused || found.same))
		gpusort_go_on_with_keys(place);
	else if (found.refused)
	{
		gpusort_sort_run_by_comparison(sort, run->ids, run->n);
		run->n = 0;
	}
	else if (found.same)
	{
		if (!gpusort_skip_same(sort, &found, run->ids, run->n, place))
			run->n = 0;
	}
	else if (gpusort_next_place(sort, place))
		return true;
	else
		run->n = 0;
	return false;
}

/* Refine what a run has fallen into; the largest part is left, and is the run now. */
static void
refine_all_subruns(GpuSort *sort, Run *run, const uint64 *equal)
{
	uint32		largest = 0;

	run->n = refine_subruns(sort, run->ids, run->n, equal, run->place, &largest);
	run->ids += largest;
}

/* refine_run(), but for forgetting what is kept behind the keys of other runs. */
static void
refine_with_keys(GpuSort *sort, Run run, GpuSortKeptKeys others)
{
	while (run.n > 1)
	{
		uint64		small_equal[SMALL_RUN / 64];
		uint64	   *equal = small_equal;

		CHECK_FOR_INTERRUPTS();
		check_stack_depth();
		if (run.n > SMALL_RUN)
			equal = palloc_extended((run.n + 63) / 64 * sizeof(uint64), MCXT_ALLOC_HUGE);
		if (refine_step(sort, &run, equal, others))
			refine_all_subruns(sort, &run, equal);
		if (equal != small_equal)
			pfree(equal);
	}
}

/* Order a run of rows that agree in everything before `place`. */
static void
refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place)
{
	GpuSortKeptKeys others = gpusort_kept_keys(sort);

	refine_with_keys(sort, (Run) {ids, n, place}, others);
	gpusort_forget_kept_keys(sort, others);
}

/*
 * Prefetch what refining the tied rows among positions from .. from + 63 needs.
 */
static void
prefetch_tied(const GpuSort *sort, uint64 from, uint64 tied, bool strings)
{
	const uint32 *order = sort->order.ids + from;

	/* a run's first row has no bit of its own */
	for (tied |= tied >> 1; tied != 0; tied &= tied - 1)
	{
		uint32		id = order[pg_rightmost_one_pos64(tied)];

		if (sort->keys.refine_column < 0)
		{
			if (strings)
				prefetch_line(gpusort_row_at(&sort->rows.places, id));
			else if (!gpusort_place_is_known(&sort->rows.places, id))
				prefetch_line(&sort->rows.places.refs[id]);
		}
		else
		{
			const GpuSortColumn *column = &sort->keys.columns[sort->keys.refine_column];
			const uint64 *ref = &RANGE_U64(column->refs)[id];

			if (strings)
				prefetch_line(string_by_ref(sort->rows.places.base, *ref) + column->base);
			else
				prefetch_line(ref);
		}
	}
}

/* Bits of a word of the bitmap that are positions from .. end - 1. */
static inline uint64
bits_within(uint64 w, uint64 from, uint64 end)
{
	uint64		bits = PG_UINT64_MAX;

	if (w * 64 < from)
		bits <<= from - w * 64;
	if (end - w * 64 < 64)
		bits &= (UINT64CONST(1) << (end - w * 64)) - 1;
	return bits;
}

/* The end of the run that begins at a position. */
static uint64
end_of_run(const GpuSort *sort, uint64 start)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	uint64		end = start + 1;

	while (end < sort->rows.count && (equal[end / 64] >> (end % 64) & 1) != 0)
		end++;
	return end;
}

/*
 * Put the runs of a stretch in order, which lie in it as a whole: the bitmap tells which rows tie
 * on all before the place.
 */
static void
refine_stretch(GpuSort *sort, const TeamStretch *stretch)
{
	uint64	   *equal = RANGE_U64(sort->order.equal);
	uint64		nwords = (stretch->to + 63) / 64;
	uint64		end = 0;

	for (uint64 w = stretch->from / 64; w < nwords; w++)
	{
		if ((w & SWEEP_MASK) == SWEEP_MASK)
			gs_progress_advance(sort->progress, (SWEEP_MASK + 1) * 64 * GPUSORT_SWEEP_COST);
		if (w + 2 < nwords)
			prefetch_tied(sort, (w + 2) * 64, equal[w + 2], false);
		if (w + 1 < nwords)
			prefetch_tied(sort, (w + 1) * 64, equal[w + 1], true);

		for (uint64 tied = equal[w] & bits_within(w, stretch->from, stretch->to); tied != 0;
			 tied &= tied - 1)
		{
			uint64		start = w * 64 + pg_rightmost_one_pos64(tied) - 1;

			if (start + 1 < end)
				continue;		/* inside the run that was last refined */
			end = end_of_run(sort, start);
			if (sort->tells_equal)
				gpusort_mark_equal(equal, start + 1, end, false);
			refine_run(sort, sort->order.ids + start, (uint32) (end - start), stretch->place);
		}
	}
}

/* ---------- by several processes ---------- */

/*
 * Runs of different stretches are refined side by side.  A run for which a process of the team has
 * not enough scratch memory, that is, one of more rows than its part of all, is broken up before
 * by the process that has the sort: it is sorted by a word with all of the workspace, and what it
 * falls into is another stretch, at another place of the key.  But if keys are kept for it, which
 * only this process has, it is put in order at once.
 */
typedef struct Stretches
{
	TeamStretch *list;
	uint32		count;
	uint32		size;
	size_t		scratch_bytes;	/* that a process has */
} Stretches;

static Stretches
begin_stretches(size_t scratch_bytes)
{
	return (Stretches) {
		.list = palloc(MIN_LIST * sizeof(TeamStretch)),.size = MIN_LIST,
		.scratch_bytes = scratch_bytes
	};
}

static void
add_stretch(Stretches *stretches, uint64 from, uint64 to, KeyPlace place)
{
	if (from >= to)
		return;
	if (stretches->count == stretches->size)
	{
		stretches->size *= 2;
		stretches->list = repalloc_huge(stretches->list, stretches->size * sizeof(TeamStretch));
	}
	stretches->list[stretches->count++] = (TeamStretch) {from, to, place};
}

/* Let the bitmap tell what a run at a position has fallen into. */
static void
copy_equal(GpuSort *sort, uint64 first, const uint64 *from, uint32 n)
{
	uint64	   *equal = RANGE_U64(sort->order.equal);

	for (uint32 i = 0; i < n; i++)
	{
		uint64		bit = UINT64CONST(1) << ((first + i) % 64);

		if ((from[i / 64] >> (i % 64) & 1) != 0)
			equal[(first + i) / 64] |= bit;
		else
			equal[(first + i) / 64] &= ~bit;
	}
}

/* Does only this process have the keys that a run's words are of? */
static bool
keys_are_kept(const GpuSort *sort, const KeyPlace *place)
{
	return !place_is_end(sort, place) && sort->keys.columns[place->column].lazy &&
		place->source == KEY_KEPT;
}

/*
 * Break up a run, and add what it has fallen into to the stretches that may have such runs; or put
 * it in order.
 */
static void
break_heavy_run(GpuSort *sort, Run run, Stretches *unbroken)
{
	GpuSortKeptKeys others = gpusort_kept_keys(sort);
	uint64	   *equal = palloc_extended((run.n + 63) / 64 * sizeof(uint64), MCXT_ALLOC_HUGE);
	uint64		first = run.ids - sort->order.ids;
	bool		broken = false;

	gpusort_mark_equal(RANGE_U64(sort->order.equal), first + 1, first + run.n, false);
	while (run.n > SMALL_RUN && !broken && !keys_are_kept(sort, &run.place))
	{
		CHECK_FOR_INTERRUPTS();
		broken = refine_step(sort, &run, equal, others);
	}
	first = run.ids - sort->order.ids;
	if (broken && !keys_are_kept(sort, &run.place))
	{
		copy_equal(sort, first, equal, run.n);
		add_stretch(unbroken, first, first + run.n, run.place);
	}
	else
	{
		if (broken)
			refine_all_subruns(sort, &run, equal);
		refine_with_keys(sort, run, others);
	}
	pfree(equal);
	gpusort_forget_kept_keys(sort, others);
}

/*
 * Break up the runs of a stretch that are too long for a process of the team; what lies between
 * them is added to the stretches, and what they have fallen into to those that may have such runs.
 */
static void
break_heavy_runs(GpuSort *sort, TeamStretch stretch, Stretches *stretches, Stretches *unbroken)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);

	for (uint64 w = stretch.from / 64; w * 64 < stretch.to; w++)
	{
		uint64		start = w * 64;
		uint64		end;

		/* a run of more than SMALL_RUN rows has whole words */
		if (equal[w] != PG_UINT64_MAX || start < stretch.from)
			continue;
		while ((equal[start / 64] >> (start % 64) & 1) != 0)
			start--;
		end = end_of_run(sort, start);
		if (end - start > SMALL_RUN &&
			gs_sort_workspace_bytes(end - start) > stretches->scratch_bytes)
		{
			Run			run = {sort->order.ids + start, (uint32) (end - start), stretch.place};

			add_stretch(stretches, stretch.from, start, stretch.place);
			break_heavy_run(sort, run, unbroken);
			stretch.from = end;
		}
		w = end / 64 - 1;
	}
	add_stretch(stretches, stretch.from, stretch.to, stretch.place);
}

/* Cut stretches into pieces, between two runs. */
static void
cut_stretches(const GpuSort *sort, Stretches *stretches, uint64 piece)
{
	Stretches	cut = begin_stretches(stretches->scratch_bytes);

	for (uint32 i = 0; i < stretches->count; i++)
	{
		TeamStretch s = stretches->list[i];

		while (s.to - s.from > piece)
		{
			uint64		end = end_of_run(sort, s.from + piece - 1);

			add_stretch(&cut, s.from, Min(end, s.to), s.place);
			s.from = Min(end, s.to);
		}
		add_stretch(&cut, s.from, s.to, s.place);
	}
	pfree(stretches->list);
	*stretches = cut;
}

/* Put runs in order that those who help have left. */
static void
refine_left(GpuSort *sort, TeamStretches *job)
{
	uint32		count = gpusort_runs_left(job);

	for (uint32 i = 0; i < count; i++)
	{
		const TeamStretch *run = &job->left[i];

		refine_run(sort, sort->order.ids + run->from, (uint32) (run->to - run->from), run->place);
	}
}

/* What is left when runs are as short as they have to be. */
static void
deal_out(GpuSort *sort, Stretches *stretches)
{
	TeamStretches *job = gpusort_deal_out(sort, TEAM_JOB_REFINE, stretches->list, stretches->count);
	TeamStretch stretch;

	if (job == NULL)
	{
		for (uint32 i = 0; i < stretches->count; i++)
			refine_stretch(sort, &stretches->list[i]);
		return;
	}
	sort->order.scratch_bytes = stretches->scratch_bytes;
	while (gpusort_take_stretch(job, &stretch))
		refine_stretch(sort, &stretch);
	gpusort_await_stretches(sort);
	refine_left(sort, job);
	sort->stats.memory_bytes += pg_atomic_read_u64(&job->memory_bytes);
	gpusort_team_withdraw(sort);
}

static void
refine_with_team(GpuSort *sort, TeamStretch whole)
{
	uint64		piece = sort->rows.count / (sort->team.participants * PIECES_EACH);
	Stretches	stretches = begin_stretches(gpusort_scratch_bytes(sort));
	Stretches	unbroken = begin_stretches(0);

	add_stretch(&unbroken, whole.from, whole.to, whole.place);
	while (unbroken.count > 0)
		break_heavy_runs(sort, unbroken.list[--unbroken.count], &stretches, &unbroken);
	cut_stretches(sort, &stretches, Max(piece, MIN_PIECE_ROWS));
	if (stretches.count > 0)
		deal_out(sort, &stretches);
	pfree(unbroken.list);
	pfree(stretches.list);
}

void
gpusort_refine_stretches(GpuSort *sort, TeamStretches *job)
{
	TeamStretch stretch;

	if (!gpusort_take_scratch(sort, job))
		return;
	gpusort_begin_made_keys(sort);
	sort->team.stretches = job;
	while (gpusort_take_stretch(job, &stretch))
		refine_stretch(sort, &stretch);
	sort->team.stretches = NULL;
	gpusort_end_made_keys(sort);
	pg_atomic_fetch_add_u64(&job->memory_bytes, sort->stats.memory_bytes);
}

/* ---------- for who has the sort ---------- */

/* Rows that tie on what the engine sorts by. */
static uint64
count_tied(const GpuSort *sort)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	uint64		nwords = (sort->rows.count + 63) / 64;
	uint64		count = 0;

	for (uint64 w = 0; w < nwords; w++)
	{
		uint64		next = w + 1 < nwords ? equal[w + 1] << 63 : 0;

		/* a run's first row has no bit of its own */
		count += pg_popcount64(equal[w]) + pg_popcount64(~equal[w] & (equal[w] >> 1 | next));
	}
	return count;
}

void
gpusort_refine(GpuSort *sort)
{
	TeamStretch whole = {0, sort->rows.count, gpusort_first_place(sort)};
	uint64		tied = count_tied(sort);
	bool		by_team = gpusort_may_deal_out(sort, tied);

	sort->stats.refined_rows += tied;
	sort->order.scratch = sort->order.workspace->base;
	sort->order.scratch_bytes = sort->order.workspace->usable;
	gpusort_begin_made_keys(sort);
	if (by_team)
		refine_with_team(sort, whole);
	else
		refine_stretch(sort, &whole);
	gpusort_end_made_keys(sort);
}
