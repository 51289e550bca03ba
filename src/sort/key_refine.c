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

/* Keys are made for one word so often, before the rows that still tie are compared instead. */
#define MAX_PASSES		32

/* Words of the bitmap that are told as progress at a time (a power of two, less one). */
#define SWEEP_MASK		0xff

/*
 * Mark the rows of a run, which have equal keys, as equal to their predecessors,
 * and order those of an index by TID.
 */
static void
finish_equal_run(GpuSort *sort, const KeyPlace *end, uint32 *ids, uint32 n)
{
	uint64	   *equal = RANGE_U64(sort->order.equal);
	uint64		first = ids - sort->order.ids;
	uint64		small_equal[SMALL_RUN / 64];

	for (uint64 i = first + 1; i < first + n; i++)
		equal[i / 64] |= UINT64CONST(1) << (i % 64);
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
	if (place->source != KEY_MADE || place->passes++ < MAX_PASSES)
		return true;
	gpusort_sort_run_by_comparison(sort, ids, *n);
	*n = 0;
	return false;
}

/* refine_run(), but for forgetting what is kept behind the keys of other runs. */
static void
refine_with_keys(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place, GpuSortKeptKeys others)
{
	while (n > 1)
	{
		GpuSortColumn *column = &sort->keys.columns[place.column];
		uint64		small_equal[SMALL_RUN / 64];
		uint64	   *equal = small_equal;
		uint32		largest = 0;
		RunWords	found;

		CHECK_FOR_INTERRUPTS();
		check_stack_depth();

		if (place_is_end(sort, &place))
		{
			finish_equal_run(sort, &place, ids, n);
			return;
		}
		if (column->nulls != NULL && gpusort_place_begins_column(sort, &place))
			refine_nulls(sort, &ids, &n, place);
		if (n < 2 || (place_is_made(&place) && !find_words(sort, &place, ids, &n, others)))
			continue;

		if (n > SMALL_RUN)
			equal = palloc_extended((n + 63) / 64 * sizeof(uint64), MCXT_ALLOC_HUGE);
		found = gpusort_sort_run(sort, &place, ids, n, equal);

		if (place_is_made(&place) && place.source == KEY_KNOWN && (found.refused || found.same))
			gpusort_go_on_with_keys(&place);
		else if (found.refused)
		{
			gpusort_sort_run_by_comparison(sort, ids, n);
			n = 0;
		}
		else if (found.same)
		{
			if (!gpusort_skip_same(sort, &found, ids, n, &place))
				n = 0;
		}
		else if (gpusort_next_place(sort, &place))
		{
			n = refine_subruns(sort, ids, n, equal, place, &largest);
			ids += largest;
		}
		else
			n = 0;
		if (equal != small_equal)
			pfree(equal);
	}
}

/* Order a run of rows that agree in everything before `place`. */
static void
refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place)
{
	GpuSortKeptKeys others = gpusort_kept_keys(sort);

	refine_with_keys(sort, ids, n, place, others);
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

static void
clear_bits(uint64 *bits, uint64 from, uint64 end)
{
	for (uint64 i = from; i < end; i++)
		bits[i / 64] &= ~(UINT64CONST(1) << (i % 64));
}

void
gpusort_refine(GpuSort *sort)
{
	uint64	   *equal = RANGE_U64(sort->order.equal);
	uint64		nwords = (sort->rows.count + 63) / 64;
	uint64		end = 0;
	KeyPlace	place = gpusort_first_place(sort);

	gpusort_begin_made_keys(sort);
	for (uint64 w = 0; w < nwords; w++)
	{
		if ((w & SWEEP_MASK) == SWEEP_MASK)
			gs_progress_advance(sort->progress, (SWEEP_MASK + 1) * 64 * GPUSORT_SWEEP_COST);
		if (w + 2 < nwords)
			prefetch_tied(sort, (w + 2) * 64, equal[w + 2], false);
		if (w + 1 < nwords)
			prefetch_tied(sort, (w + 1) * 64, equal[w + 1], true);

		for (uint64 tied = equal[w]; tied != 0; tied &= tied - 1)
		{
			uint64		start = w * 64 + pg_rightmost_one_pos64(tied) - 1;

			if (start + 1 < end)
				continue;		/* inside the run that was last refined */
			for (end = start + 2; end < sort->rows.count &&
				 (equal[end / 64] >> (end % 64) & 1) != 0;)
				end++;
			if (sort->tells_equal)
				clear_bits(equal, start + 1, end);
			sort->stats.refined_rows += end - start;
			refine_run(sort, sort->order.ids + start, (uint32) (end - start), place);
		}
	}
	gpusort_end_made_keys(sort);
}
