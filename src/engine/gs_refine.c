/*
 * gs_refine.c
 *		Orders rows that tie on the slices looked at so far.
 *
 * After a range of items has been sorted on one slice of the key, neighbours
 * with the same slice form *runs*.  The items of each run are repacked with
 * the next slice and sorted by themselves, and so on until the key has no bits
 * left.  What a run costs depends on its rows only.
 *
 * Depth.  A run that ties as a whole goes round a loop.  When a range falls
 * apart, its largest run is kept for the loop and only the others, each at
 * most half of the range, are recursed into: the depth is at most log2(nrows)
 * whatever the key's width.
 *
 * The rows of small runs are scattered over the planes and rarely in the
 * cache.  Runs are therefore queued, their words are prefetched as they are
 * found, and only a full queue is worked on.
 */
#include "gs_items.h"
#include "gs_pack.h"
#include "gs_refine.h"

/* Items of a run that are repacked and compared at a time. */
#define LOAD_ITEMS		512

/* Runs looked up ahead, and the rows of each that are prefetched. */
#define QUEUE_RUNS		16
#define QUEUE_PREFETCH	8

typedef struct run_queue
{
	unsigned	count;
	gs_range	runs[QUEUE_RUNS];
} run_queue;

/*
 * Give a run's items the bits of slice; *sorted tells whether they are in
 * order as they are.  False when cancelled.
 */
static bool
load_run(gs_job *job, gs_range run, const gs_slice *slice, bool *sorted)
{
	uint64_t	last = 0;

	*sorted = true;
	for (uint64_t begin = run.begin; begin < run.end; begin += LOAD_ITEMS)
	{
		uint64_t   *items = job->items + begin;
		uint64_t	count = run.end - begin < LOAD_ITEMS ? run.end - begin : LOAD_ITEMS;

		gs_repack_items(items, slice, job->id_bits, count);
		for (uint64_t i = 0; i < count && *sorted; i++)
		{
			*sorted = last <= items[i];
			last = items[i];
		}
		if (gs_job_cancelled(job, count))
			return false;
	}
	return true;
}

/*
 * Sort a run on the next bits, as many as an item holds, and move the cursor
 * behind them.  False when cancelled.
 */
static bool
sort_run(gs_job *job, gs_range run, gs_cursor *cursor)
{
	gs_slice	slice;
	bool		sorted;

	gs_slice_build(&slice, job->layout, cursor, gs_job_slice_bits(job, *cursor));
	if (!load_run(job, run, &slice, &sorted))
		return false;
	if (sorted)
		return true;
	job->moved = true;
	return gs_items_sort(job, run);
}

/* Set the bits of all items that tie with their predecessor. */
static bool
mark_equal(gs_job *job, gs_range range)
{
	for (uint64_t i = range.begin + 1; i < range.end;)
	{
		uint64_t	word_end = (i | 63) + 1 < range.end ? (i | 63) + 1 : range.end;
		uint64_t   *word = &job->equal[i >> 6];
		uint64_t	bits = 0;

		for (; i < word_end; i++)
			bits |= (uint64_t) gs_item_ties(job, i, job->id_bits) << (i & 63);
		*word |= bits;
		if (gs_job_cancelled(job, 64))
			return false;
	}
	return true;
}

static void
prefetch_run(const gs_job *job, gs_range run, gs_cursor cursor)
{
	const gs_field *field = &job->layout->fields[cursor.field];
	const uint64_t id_mask = gs_low_mask(job->id_bits);
	uint64_t	rows = gs_range_rows(run);

	for (uint64_t i = 0; i < rows && i < QUEUE_PREFETCH; i++)
		gs_prefetch_row(field, job->items[run.begin + i] & id_mask);
}

/* Refine all runs of a queue and empty it.  False when cancelled. */
static bool
refine_queue(gs_job *job, run_queue *queue, gs_cursor cursor)
{
	for (unsigned i = 0; i < queue->count; i++)
	{
		gs_cursor	next = cursor;

		if (!sort_run(job, queue->runs[i], &next) || !gs_refine(job, queue->runs[i], next))
			return false;
	}
	queue->count = 0;
	return true;
}

/*
 * Refine all runs of a range but the largest, which is left to the caller.
 * False when cancelled.
 */
static bool
refine_runs(gs_job *job, gs_range range, gs_cursor cursor, gs_range *largest)
{
	run_queue	queue = {.count = 0};

	*largest = (gs_range) {range.begin, range.begin};
	while (range.begin < range.end)
	{
		gs_range	run = gs_next_ties(job, range, job->id_bits);

		if (gs_job_cancelled(job, run.end - range.begin))
			return false;
		range.begin = run.end;
		if (cursor.bits_left + job->scratch->slice.width == job->layout->key_bits)
			job->refined_rows += gs_range_rows(run);
		if (gs_range_rows(run) > gs_range_rows(*largest))
		{
			gs_range	smaller = *largest;

			*largest = run;
			run = smaller;
		}
		if (gs_range_rows(run) == 0)
			continue;
		prefetch_run(job, run, cursor);
		queue.runs[queue.count++] = run;
		if (queue.count == QUEUE_RUNS && !refine_queue(job, &queue, cursor))
			return false;
	}
	return refine_queue(job, &queue, cursor);
}

/*
 * Put a range that is sorted on the bits before the cursor, the last of them
 * in its items, in the order of the whole key, and mark rows that are equal.
 * False when cancelled.
 */
bool
gs_refine(gs_job *job, gs_range range, gs_cursor cursor)
{
	while (cursor.bits_left > 0)
	{
		gs_range	largest;

		if (!refine_runs(job, range, cursor, &largest))
			return false;
		if (gs_range_rows(largest) == 0)
			return true;
		if (!sort_run(job, largest, &cursor))
			return false;
		range = largest;
	}
	return job->equal == NULL || mark_equal(job, range);
}
