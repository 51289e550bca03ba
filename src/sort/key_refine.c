/*
 * key_refine.c
 *		Ordering rows that tie on key prefixes (GPUTeraSort's wide keys, section 4.3); see
 *		refine_private.h.
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
refine_step(GpuSort *sort, TiedRun *run, uint64 *equal, GpuSortKeptKeys others)
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
refine_all_subruns(GpuSort *sort, TiedRun *run, const uint64 *equal)
{
	uint32		largest = 0;

	run->n = refine_subruns(sort, run->ids, run->n, equal, run->place, &largest);
	run->ids += largest;
}

/*
 * Does refine_run(), but leaves keys of this run behind `others`, the end of those of other runs.
 */
static void
refine_with_keys(GpuSort *sort, TiedRun run, GpuSortKeptKeys others)
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

	refine_with_keys(sort, (TiedRun) {ids, n, place}, others);
	gpusort_forget_kept_keys(sort, others);
}

void
gpusort_refine_run(GpuSort *sort, TiedRun run)
{
	refine_run(sort, run.ids, run.n, run.place);
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

uint64
gpusort_end_of_run(const GpuSort *sort, uint64 start)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	uint64		end = start + 1;

	while (end < sort->rows.count && (equal[end / 64] >> (end % 64) & 1) != 0)
		end++;
	return end;
}

void
gpusort_refine_stretch(GpuSort *sort, uint64 from, uint64 to, KeyPlace place)
{
	uint64	   *equal = RANGE_U64(sort->order.equal);
	uint64		nwords = (to + 63) / 64;
	uint64		end = 0;

	for (uint64 w = from / 64; w < nwords; w++)
	{
		if ((w & SWEEP_MASK) == SWEEP_MASK)
			gs_progress_advance(sort->progress, (SWEEP_MASK + 1) * 64 * GPUSORT_SWEEP_COST);
		if (w + 2 < nwords)
			prefetch_tied(sort, (w + 2) * 64, equal[w + 2], false);
		if (w + 1 < nwords)
			prefetch_tied(sort, (w + 1) * 64, equal[w + 1], true);

		for (uint64 tied = equal[w] & bits_within(w, from, to); tied != 0;
			 tied &= tied - 1)
		{
			uint64		start = w * 64 + pg_rightmost_one_pos64(tied) - 1;

			if (start + 1 < end)
				continue;		/* inside the run that was last refined */
			end = gpusort_end_of_run(sort, start);
			if (sort->tells_equal)
				gpusort_mark_equal(equal, start + 1, end, false);
			refine_run(sort, sort->order.ids + start, (uint32) (end - start), place);
		}
	}
}

/* ---------- a run that is too long for one process ---------- */

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

bool
gpusort_break_run(GpuSort *sort, TiedRun *run)
{
	GpuSortKeptKeys others = gpusort_kept_keys(sort);
	uint64	   *equal = palloc_extended((run->n + 63) / 64 * sizeof(uint64), MCXT_ALLOC_HUGE);
	uint64		first = run->ids - sort->order.ids;
	bool		broken = false;

	gpusort_mark_equal(RANGE_U64(sort->order.equal), first + 1, first + run->n, false);
	while (run->n > SMALL_RUN && !broken && !keys_are_kept(sort, &run->place))
	{
		CHECK_FOR_INTERRUPTS();
		broken = refine_step(sort, run, equal, others);
	}
	if (broken && keys_are_kept(sort, &run->place))
	{
		refine_all_subruns(sort, run, equal);
		broken = false;
	}
	if (broken)
		copy_equal(sort, run->ids - sort->order.ids, equal, run->n);
	else
		refine_with_keys(sort, *run, others);
	pfree(equal);
	gpusort_forget_kept_keys(sort, others);
	return broken;
}
