/*
 * key_refine.c
 *		Ordering rows that tie on key prefixes (GPUTeraSort's wide keys, section 4.3).
 *
 * The engine sorts by fixed-width planes.  Where the strings of a column go on beyond their first
 * word, that word orders all rows but those that agree in it, and nothing behind it may take part
 * in the engine's sort.  So the engine gets the planes up to and including the first such prefix,
 * and marks which neighbours are equal in them.  Here every run of equal rows is put in order by
 * what follows in the key: word by word, by the rest of the string and then by the remaining
 * columns, and only for rows that still tie.
 *
 * Three things keep that cheap.  Leading bytes that all strings of a column share are left out of
 * the prefix to begin with (key_planes.c).  A word in which a whole run agrees is not sorted by:
 * the run's common prefix is skipped in one go.  And the words of a run are fetched once, and
 * sorted without touching the rows again (key_run.c).
 *
 * Each step either splits its run or moves the place in the key forward, so the refinement ends.
 * The recursion enters all subruns of equal words but the largest, and the nulls of a column with
 * the columns behind it.  So its depth is at most the number of columns plus log2 of the number of
 * rows.
 *
 * Rows with equal keys come in the order of their ids, here as in the engine.  In an index build
 * they come in the order of their TIDs, which is a different order if rows did not arrive in TID
 * order.  Then the TID takes part behind the last column.  If the sort is to tell which rows are
 * equal, the runs that get to the end of the key are marked in the equal bitmap, and no other bits
 * are left in it.
 *
 * Where a team waits for the order, all its processes refine stretches of it (team_stretches.c), by
 * the same code.
 *
 * Strings of lazy codecs get their keys here, one run at a time, unless all strings of the run are
 * the same anyway.  If a run is too long for its keys to be kept, they are made again for each word
 * (key_made.c).  If a key can't be made, the run is sorted by comparison.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "prefetch.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/refine_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/*
 * For so many words of a run keys are made without being kept; then the rows that still tie are
 * sorted by comparison.
 */
#define MAX_PASSES		32

/*
 * A process that helps to refine makes keys without keeping them for so many words of a run.  Then
 * it leaves the run to the process that has the sort, whose keys find room in the pool.
 */
#define LEAVE_PASSES	2

/*
 * How many stretches there are for each process of a team, so that all processes end at about the
 * same time, and how short stretches may be.
 */
#define PIECES_EACH		16
#ifndef MIN_STRETCH_ROWS
#define MIN_STRETCH_ROWS	512
#endif

/* How many stretches a list has room for at first. */
#define MIN_LIST		64

/* Progress is told after so many words of the bitmap (a power of two, less one). */
#define SWEEP_MASK		0xff

/*
 * Marks the rows of a run, whose keys are equal, as equal to their predecessors, and orders those
 * of an index build by TID.
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
 * Refines the subruns of equal words of a run, except for the largest one, which is left to the
 * caller.  Returns the length of the largest subrun, and its start in *largest.
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

/*
 * Orders the nulls of the column that begins at the place, and takes them out of the run, which is
 * left to the caller.
 */
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
 * Moves a place where strings have no keys to words that are worth sorting a run by, behind what
 * its strings share.  Returns false if the run is not to be sorted by words there: either the place
 * is in another part of the key now, or the run is in order or left to another process, and *n is
 * 0.  `others` is the end of the keys that other runs have kept.
 */
static bool
find_words(GpuSort *sort, KeyPlace *place, uint32 *ids, uint32 *n, GpuSortKeptKeys others)
{
	bool		same;
	uint32		shared = gpusort_key_run_shared_bytes(sort, place, ids, *n, &same);

	if (same)
	{
		if (!gpusort_next_part(sort, place))
			*n = 0;
		return false;
	}
	gpusort_skip_shared(sort, place, ids[0], shared);
	/* what this run has kept are keys of columns before this one, which are not needed any more */
	gpusort_forget_kept_keys(sort, others);
	if (place->source == KEY_MADE && !gpusort_key_run_is_shared(sort, *n))
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

/* A run: rows of the order that agree in everything before a place in the key. */
typedef struct Run
{
	uint32	   *ids;
	uint32		n;
	KeyPlace	place;
} Run;

/*
 * Does one step of refining a run: sorts it by its words at the place, or moves the place forward.
 * Nulls of a column are put in order and leave the run.  When the whole run is in order, it is left
 * empty.
 *
 * Returns true if the run was sorted, and has fallen into runs of equal words.  Then equal[] tells
 * these, and run->place is where they go on.  equal[] must have room for the run's rows, and for
 * SMALL_RUN at least.  `others` is the end of the keys that other runs have kept.
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

/* Refines all runs that a run has fallen into but the largest one, which becomes the run. */
static void
refine_all_subruns(GpuSort *sort, Run *run, const uint64 *equal)
{
	uint32		largest = 0;

	run->n = refine_subruns(sort, run->ids, run->n, equal, run->place, &largest);
	run->ids += largest;
}

/*
 * Does refine_run(), but leaves keys of this run behind `others`, the end of those of other runs.
 */
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

/* Orders a run of rows that agree in everything before `place`. */
static void
refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place)
{
	GpuSortKeptKeys others = gpusort_kept_keys(sort);

	refine_with_keys(sort, (Run) {ids, n, place}, others);
	gpusort_forget_kept_keys(sort, others);
}

/*
 * Prefetches what it takes to refine the rows that tie among positions from .. from + 63.  `tied`
 * is the bitmap's word for them.  To be called first for the references of the rows, and then, with
 * `strings`, for what these point to.
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

/* Returns a mask of the bits in word w of the bitmap that are positions from .. end - 1. */
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

/* Returns the end of the run that begins at a position. */
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
 * Puts the runs in a stretch of the order in order.  No run crosses the ends of the stretch, and
 * the bitmap tells which rows tie on everything before stretch->place.
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
 * The stretches that are dealt out to a team, whose processes refine them side by side.  Each
 * process has a part of the workspace as scratch memory, which is too small for a run of more rows
 * than the same part of all rows.  So the process that has the sort breaks up such heavy runs
 * before: it has the team sort the run by a word, with all of the workspace, and what the run falls
 * into is another stretch, which begins at another place of the key.  But if the run's keys are
 * kept, only this process has them, and it puts the run in order at once.
 */
typedef struct Stretches
{
	TeamStretch *list;
	uint32		count;
	uint32		size;
	size_t		scratch_bytes;	/* scratch memory of each process */
} Stretches;

static Stretches
begin_stretches(size_t scratch_bytes)
{
	return (Stretches) {
		.list = palloc(MIN_LIST * sizeof(TeamStretch)),.size = MIN_LIST,
		.scratch_bytes = scratch_bytes
	};
}

/* Appends a stretch to a list, unless it is empty. */
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

/*
 * Sets the bits of the equal bitmap for a run of n rows, which begins at position `first`, to those
 * in from[].
 */
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

/*
 * Returns whether only this process has the keys that the words of a run at this place are taken
 * from.
 */
static bool
keys_are_kept(const GpuSort *sort, const KeyPlace *place)
{
	return !place_is_end(sort, place) && sort->keys.columns[place->column].lazy &&
		place->source == KEY_KEPT;
}

/*
 * Breaks up a heavy run, and adds what it has fallen into to `unbroken`, the stretches in which
 * there may be more of them.  A run that can't be broken up is put in order instead.
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
 * Breaks up the heavy runs of a stretch.  What lies between them is added to `stretches`, and what
 * they have fallen into to `unbroken`, the stretches in which there may be more of them.
 */
static void
break_heavy_runs(GpuSort *sort, TeamStretch stretch, Stretches *stretches, Stretches *unbroken)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);

	for (uint64 w = stretch.from / 64; w * 64 < stretch.to; w++)
	{
		uint64		start = w * 64;
		uint64		end;

		/* a heavy run has more than SMALL_RUN rows, so some words of its bits are all ones */
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

/* Cuts stretches into pieces of about this many rows.  No run is cut. */
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

/* Puts the runs in order that other processes of the team have left to this one. */
static void
refine_left(GpuSort *sort, TeamStretches *job)
{
	uint32		count = gpusort_team_runs_left(job);

	for (uint32 i = 0; i < count; i++)
	{
		const TeamStretch *run = &job->left[i];

		refine_run(sort, sort->order.ids + run->from, (uint32) (run->to - run->from), run->place);
	}
}

/* Deals the stretches out to the team, and refines a share of them in this process. */
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

/*
 * Refines the whole order together with a team: breaks up heavy runs, cuts stretches, and deals
 * them out.
 */
static void
refine_with_team(GpuSort *sort, TeamStretch whole)
{
	uint64		piece = sort->rows.count / (sort->team.participants * PIECES_EACH);
	Stretches	stretches = begin_stretches(gpusort_scratch_bytes(sort));
	Stretches	unbroken = begin_stretches(0);

	add_stretch(&unbroken, whole.from, whole.to, whole.place);
	while (unbroken.count > 0)
		break_heavy_runs(sort, unbroken.list[--unbroken.count], &stretches, &unbroken);
	cut_stretches(sort, &stretches, Max(piece, MIN_STRETCH_ROWS));
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

/* ---------- by the process that has the sort ---------- */

/* Returns how many rows tie on what the engine has sorted by. */
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
