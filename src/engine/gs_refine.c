/*
 * gs_refine.c
 *		Orders rows that tie on the bits looked at so far.
 *
 * After a range of items has been sorted on one slice of the key, neighbours
 * with the same slice form *runs*.  Each run is repacked with the next slice
 * and sorted by itself, and so on until the key has no bits left.  What a run
 * costs depends on its rows only:
 *
 *	up to RUN_INSERTION rows	insertion sort
 *	up to RUN_MERGE rows		merge sort, ping-pong with the other half
 *	more						radix sort, in the same range of both halves
 *
 * All three compare items as integers, with the row id in the low bits, so
 * all are stable, and none has a bad case worse than n log n.
 *
 * Depth.  A run that ties as a whole goes round a loop.  When a range falls
 * apart, its largest run is kept for the loop and only the others, each at
 * most half of the range, are recursed into: the depth is at most log2(nrows)
 * whatever the key's width.
 *
 * Small runs are rarely in the cache: their rows are scattered over the
 * planes.  Runs are therefore queued, their words are prefetched as they are
 * found, and only a full queue is worked on.
 */
#include <string.h>

#include "gs_pack.h"
#include "gs_radix.h"
#include "gs_refine.h"

#define RUN_INSERTION	24
#define RUN_MERGE		512

/* Items of a run that are repacked and counted at a time. */
#define LOAD_ITEMS		512

/* Runs looked up ahead, and the rows of each that are prefetched. */
#define QUEUE_RUNS		16
#define QUEUE_PREFETCH	8

typedef struct run
{
	uint64_t	begin;
	uint64_t	end;
} run;

typedef struct run_queue
{
	unsigned	count;
	run			runs[QUEUE_RUNS];
} run_queue;

static inline uint64_t
run_rows(run r)
{
	return r.end - r.begin;
}

static void
insertion_sort(uint64_t *items, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
	{
		uint64_t	item = items[i];
		uint64_t	j = i;

		for (; j > 0 && items[j - 1] > item; j--)
			items[j] = items[j - 1];
		items[j] = item;
	}
}

/* Merge two neighbouring sorted stretches; no branch depends on the items. */
static void
merge(uint64_t *restrict to, const uint64_t *from, uint64_t middle, uint64_t end)
{
	const uint64_t *a = from;
	const uint64_t *b = from + middle;
	const uint64_t *a_end = b;
	const uint64_t *b_end = from + end;

	while (a < a_end && b < b_end)
	{
		bool		take_b = *b < *a;

		*to++ = take_b ? *b : *a;
		b += take_b;
		a += !take_b;
	}
	memcpy(to, a, (size_t) (a_end - a) * sizeof(*a));
	to += a_end - a;
	memcpy(to, b, (size_t) (b_end - b) * sizeof(*b));
}

/* Sorts items; spare is as large, its contents are lost. */
static void
merge_sort(uint64_t *items, uint64_t *spare, uint64_t count)
{
	uint64_t   *from = items;
	uint64_t   *to = spare;

	for (uint64_t i = 0; i < count; i += RUN_INSERTION)
		insertion_sort(items + i, count - i < RUN_INSERTION ? count - i : RUN_INSERTION);

	for (uint64_t width = RUN_INSERTION; width < count; width *= 2)
	{
		uint64_t   *swap = from;

		for (uint64_t i = 0; i < count; i += 2 * width)
		{
			uint64_t	left = count - i;
			uint64_t	end = left < 2 * width ? left : 2 * width;

			merge(to + i, from + i, left < width ? left : width, end);
		}
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

/*
 * Give a run's items the bits of slice and count their digits, if it has any.
 * *sorted tells whether they are in order as they are.  False when cancelled.
 */
static bool
load_run(gs_job *job, run r, const gs_slice *slice, gs_digits digits, bool *sorted)
{
	uint64_t	last = 0;

	*sorted = true;
	for (uint64_t begin = r.begin; begin < r.end; begin += LOAD_ITEMS)
	{
		uint64_t   *items = job->items + begin;
		uint64_t	count = r.end - begin < LOAD_ITEMS ? r.end - begin : LOAD_ITEMS;

		gs_repack_items(items, slice, job->id_bits, count);
		for (uint64_t i = 0; i < count && *sorted; i++)
		{
			*sorted = last <= items[i];
			last = items[i];
		}
		gs_radix_count(job, digits, items, count);
		if (gs_job_cancelled(job, count))
			return false;
	}
	return true;
}

/* Sort a run of more than RUN_MERGE rows; false when cancelled. */
static bool
sort_large_run(gs_job *job, run r, const gs_slice *slice)
{
	uint64_t   *items = job->items + r.begin;
	gs_digits	digits = gs_radix_digits(run_rows(r), job->id_bits, slice->width);
	uint64_t   *result;
	bool		sorted;

	gs_radix_clear(job, digits);
	if (!load_run(job, r, slice, digits, &sorted))
		return false;
	if (sorted)
		return true;
	job->moved = true;
	result = gs_radix_partition(job, digits, items, job->spare + r.begin, run_rows(r));
	if (result == NULL)
		return false;
	if (result != items)
		memcpy(items, result, run_rows(r) * sizeof(*items));
	return true;
}

/* Sort a run of at most RUN_MERGE rows; false when cancelled. */
static bool
sort_small_run(gs_job *job, run r, const gs_slice *slice)
{
	uint64_t   *items = job->items + r.begin;
	bool		sorted;

	if (!load_run(job, r, slice, (gs_digits) {.count = 0}, &sorted))
		return false;
	if (sorted)
		return true;
	job->moved = true;
	if (run_rows(r) <= RUN_INSERTION)
		insertion_sort(items, run_rows(r));
	else
		merge_sort(items, job->spare + r.begin, run_rows(r));
	return true;
}

/* Sort a run on the next bits and move the cursor behind them. */
static bool
sort_run(gs_job *job, run r, gs_cursor *cursor)
{
	bool		small = run_rows(r) <= RUN_MERGE;
	unsigned	bits = 64 - job->id_bits;
	gs_slice	slice;

	if (cursor->bits_left < bits)
		bits = (unsigned) cursor->bits_left;
	if (!small)
		bits = gs_radix_bits(run_rows(r), bits);
	gs_slice_build(&slice, job->layout, cursor, bits);
	return small ? sort_small_run(job, r, &slice) : sort_large_run(job, r, &slice);
}

static inline bool
items_tie(const gs_job *job, uint64_t i)
{
	return (job->items[i] ^ job->items[i - 1]) >> job->id_bits == 0;
}

/* The first run that begins at from or later; empty at end if there is none. */
static run
next_run(const gs_job *job, uint64_t from, uint64_t end)
{
	uint64_t	i = from + 1;
	run			r = {end, end};

	while (i < end && !items_tie(job, i))
		i++;
	if (i >= end)
		return r;
	r.begin = i - 1;
	while (i < end && items_tie(job, i))
		i++;
	r.end = i;
	return r;
}

/* Set the bits of all items that tie with their predecessor. */
static void
mark_equal(gs_job *job, uint64_t begin, uint64_t end)
{
	for (uint64_t i = begin + 1; i < end;)
	{
		uint64_t	word_end = (i | 63) + 1 < end ? (i | 63) + 1 : end;
		uint64_t   *word = &job->equal[i >> 6];
		uint64_t	bits = 0;

		for (; i < word_end; i++)
			bits |= (uint64_t) items_tie(job, i) << (i & 63);
		*word |= bits;
	}
}

static void
prefetch_run(const gs_job *job, run r, gs_cursor cursor)
{
	uint64_t	count = run_rows(r) < QUEUE_PREFETCH ? run_rows(r) : QUEUE_PREFETCH;
	uint64_t	id_mask = gs_low_mask(job->id_bits);

	for (uint64_t i = 0; i < count; i++)
		gs_prefetch_row(&job->layout->fields[cursor.field], job->items[r.begin + i] & id_mask);
}

/* Refine all runs of a queue and empty it. */
static bool
refine_queue(gs_job *job, run_queue *queue, gs_cursor cursor)
{
	for (unsigned i = 0; i < queue->count; i++)
	{
		gs_cursor	next = cursor;

		if (!sort_run(job, queue->runs[i], &next) ||
			!gs_refine(job, queue->runs[i].begin, queue->runs[i].end, next))
			return false;
	}
	queue->count = 0;
	return true;
}

/* Refine all runs of a range but the largest, which is left to the caller. */
static bool
refine_runs(gs_job *job, uint64_t begin, uint64_t end, gs_cursor cursor, run *largest)
{
	run_queue	queue = {.count = 0};

	*largest = (run) {begin, begin};
	for (run r = next_run(job, begin, end); run_rows(r) > 0; r = next_run(job, r.end, end))
	{
		run			other = r;

		job->refined_rows += run_rows(r);
		if (run_rows(r) > run_rows(*largest))
		{
			other = *largest;
			*largest = r;
		}
		if (run_rows(other) == 0)
			continue;
		prefetch_run(job, other, cursor);
		queue.runs[queue.count++] = other;
		if (queue.count == QUEUE_RUNS && !refine_queue(job, &queue, cursor))
			return false;
	}
	return refine_queue(job, &queue, cursor);
}

/*
 * Put items [begin, end), sorted on the bits before the cursor, in the order
 * of the whole key, and mark those that are equal.  False when cancelled.
 */
bool
gs_refine(gs_job *job, uint64_t begin, uint64_t end, gs_cursor cursor)
{
	while (cursor.bits_left > 0)
	{
		run			largest;

		if (!refine_runs(job, begin, end, cursor, &largest))
			return false;
		if (run_rows(largest) == 0)
			return true;
		if (!sort_run(job, largest, &cursor))
			return false;
		begin = largest.begin;
		end = largest.end;
	}
	if (job->equal != NULL)
		mark_equal(job, begin, end);
	return true;
}
