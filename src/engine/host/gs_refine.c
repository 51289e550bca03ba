/*
 * gs_refine.c
 *		Orders rows that tie on the sections looked at so far.
 *
 * After a range of items has been sorted on one section of the key, neighbours
 * with the same section form *runs*.  The items of each run are repacked with
 * the next section and sorted by themselves, and so on until the key has no bits
 * left.  What a run costs depends on its rows only.
 *
 * The depth of the recursion is at most log2(nrows), whatever the key's width: a run that ties as a
 * whole goes round a loop, and when a range falls apart into runs, the largest is kept for the loop
 * and only the others, each at most half of the range, are recursed into.
 *
 * The rows of small runs are scattered over the planes and rarely in the cache.  Runs are therefore
 * queued, and their words are prefetched when they are found.  Once the queue is full, each run
 * that is added has the oldest one refined, so that words arrive while other runs are worked on.
 */
#include "engine/host/gs_sort_private.h"
#include "engine/gs_layout.h"

/* So many items of a run are repacked and compared at a time. */
#define LOAD_ITEMS		512

/* The length of the queue, and of how many rows of each run the words are prefetched. */
#define QUEUE_RUNS		16
#define QUEUE_PREFETCH	24

/* The runs of one range; all are to be sorted on the same section next. */
typedef struct refinement
{
	gs_cursor	cursor;			/* the range is sorted on the bits before this */
	gs_cursor	next;			/* where the key goes on behind section */
	gs_section	section;			/* the next section; built when the first run is found */
	/* the largest run, which is not queued; empty if there are no runs */
	gs_range	largest;
	unsigned	count;
	unsigned	oldest;			/* index of the run that was queued first, if the queue is full */
	gs_range	runs[QUEUE_RUNS];
} refinement;

/*
 * Gives a run's items the bits of section; *sorted tells whether they are in order as they are.
 * Returns false when cancelled.
 */
static bool
load_run(gs_job *job, gs_range run, const gs_section *section, bool *sorted)
{
	uint64_t	last = 0;

	*sorted = true;
	for (uint64_t begin = run.begin; begin < run.end; begin += LOAD_ITEMS)
	{
		uint64_t   *items = job->items + begin;
		uint64_t	count = run.end - begin < LOAD_ITEMS ? run.end - begin : LOAD_ITEMS;

		gs_repack_items(items, section, job->id_bits, count);
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

/* Sorts a run on the next section.  Returns false when cancelled. */
static bool
sort_run(gs_job *job, gs_range run, const gs_section *section)
{
	bool		sorted;

	if (!load_run(job, run, section, &sorted))
		return false;
	if (sorted)
		return true;
	job->moved = true;
	return gs_items_sort(job, run);
}

/*
 * Sets bits of a word of the bitmap of equal rows.  The first and the last word of a job's items
 * may also have bits of other jobs, which other participants set at the same time.
 */
static inline void
set_bits(gs_job *job, uint64_t word, uint64_t bits)
{
	if (word == job->positions.begin / 64 || word == (job->positions.end - 1) / 64)
		__atomic_fetch_or(&job->equal[word], bits, __ATOMIC_RELAXED);
	else
		job->equal[word] |= bits;
}

/* Sets the bits of all items that tie with their predecessor.  Returns false when cancelled. */
static bool
mark_equal(gs_job *job, gs_range range)
{
	uint64_t	first = job->positions.begin;
	uint64_t	end = first + range.end;

	for (uint64_t position = first + range.begin + 1; position < end;)
	{
		uint64_t	word_end = (position | 63) + 1 < end ? (position | 63) + 1 : end;
		uint64_t	word = position / 64;
		uint64_t	bits = 0;

		for (; position < word_end; position++)
			bits |= (uint64_t) gs_item_ties(job, position - first, job->id_bits) << (position & 63);
		set_bits(job, word, bits);
		if (gs_job_cancelled(job, 64))
			return false;
	}
	return true;
}

/*
 * Sets the bits of all of the job's items, but that of the first item only if first_too: if it
 * equals the row before it.
 */
void
gs_mark_all(gs_job *job, bool first_too)
{
	uint64_t	end = job->positions.end;

	for (uint64_t position = job->positions.begin + !first_too; position < end;)
	{
		uint64_t	word_end = (position | 63) + 1 < end ? (position | 63) + 1 : end;
		uint64_t	count = word_end - position;

		set_bits(job, position / 64, gs_low_mask((unsigned) count) << (position & 63));
		position = word_end;
	}
}

/* Sorts a run on the next section, and refines it to the end of the key. */
static bool
refine_run(gs_job *job, const refinement *r, gs_range run)
{
	return sort_run(job, run, &r->section) && gs_refine(job, run, r->next);
}

/* Refines all queued runs.  Returns false when cancelled. */
static bool
refine_queue(gs_job *job, refinement *r)
{
	for (unsigned i = 0; i < r->count; i++)
		if (!refine_run(job, r, r->runs[i]))
			return false;
	return true;
}

static void
prefetch_run(const gs_job *job, const refinement *r, gs_range run)
{
	const uint64_t id_mask = gs_low_mask(job->id_bits);
	uint64_t	rows = gs_range_rows(run);

	for (uint64_t i = 0; i < rows && i < QUEUE_PREFETCH; i++)
		gs_prefetch_section(&r->section, job->items[run.begin + i] & id_mask);
}

/*
 * Queues a run, or, if the run is larger, the largest run up to now in its place; if the queue is
 * full, refines its oldest run.  Returns false when cancelled.
 */
static bool
add_run(gs_job *job, refinement *r, gs_range run)
{
	gs_range	queued = run;

	if (gs_range_rows(r->largest) == 0)
	{
		r->next = r->cursor;
		gs_section_build(&r->section, job->layout, &r->next, gs_job_section_bits(job, r->cursor));
	}
	if (gs_range_rows(run) > gs_range_rows(r->largest))
	{
		queued = r->largest;
		r->largest = run;
	}
	if (r->cursor.bits_left == job->bits_behind_first)
		job->refined_rows += gs_range_rows(run);
	if (gs_range_rows(queued) == 0)
		return true;
	prefetch_run(job, r, queued);
	if (r->count < QUEUE_RUNS)
	{
		r->runs[r->count++] = queued;
		return true;
	}
	run = r->runs[r->oldest];
	r->runs[r->oldest] = queued;
	r->oldest = (r->oldest + 1) % QUEUE_RUNS;
	return refine_run(job, r, run);
}

/*
 * Sorts all runs of a range on the next section, and refines all but the largest to the end of the
 * key.  Returns false when cancelled.
 */
static bool
refine_runs(gs_job *job, refinement *r, gs_range range)
{
	r->largest = (gs_range) {range.begin, range.begin};
	r->count = 0;
	r->oldest = 0;
	while (range.begin < range.end)
	{
		gs_range	run = gs_next_ties(job, range, job->id_bits);

		if (gs_job_cancelled(job, run.end - range.begin))
			return false;
		if (gs_range_rows(run) > 0 && !add_run(job, r, run))
			return false;
		range.begin = run.end;
	}
	return refine_queue(job, r) &&
		(gs_range_rows(r->largest) == 0 || sort_run(job, r->largest, &r->section));
}

/*
 * Puts a range in the order of the whole key, and marks rows that are equal.  The range is sorted
 * on the bits before the cursor already, of which the items have the last.  Returns false when
 * cancelled.
 */
bool
gs_refine(gs_job *job, gs_range range, gs_cursor cursor)
{
	refinement	r;

	for (r.cursor = cursor; r.cursor.bits_left > 0; r.cursor = r.next)
	{
		if (!refine_runs(job, &r, range))
			return false;
		if (gs_range_rows(r.largest) == 0)
			return true;
		range = r.largest;
	}
	return job->equal == NULL || mark_equal(job, range);
}
