/*
 * gs_sort.c
 *		The host engine: a stable sort of rows on one core.
 *
 *	gs_key		reads all planes: which bits vary makes up the key
 *	gs_scan		reads the planes again: one item a row, as much of the key as
 *				fits beside the row id; notices rows that are in order
 *	gs_buckets	of many rows: distributes the items, and sorts them piece by piece
 *	gs_radix	sorts the items on as many leading bits as pay
 *	gs_items	sorts neighbours that tie on those by the item's other bits
 *	gs_refine	sorts rows that tie on the whole item by further sections of the
 *				key, which are read from the planes row by row
 *	here		the row ids are unpacked
 *
 * Where keys are wanted and fit a word, items have no ids, and are the result.
 *
 * The workspace is a table of counters and two halves of one word a row.
 * Items move from half to half; the ids end up in the half that is not theirs.
 *
 * Every loop over many rows accounts for its work with gs_job_cancelled(), and
 * whatever may be cancelled returns false for it, up to here.
 *
 * Random 62-bit keys took about 11 ns a row at 10^7 rows (Zen 4), keys of 16
 * bits 6, rows in order 2, in reverse order 5, before there were buckets.  The dearest are keys that tie
 * on 40 bits in runs spread all over memory: each section costs a cache miss a
 * row, 10 to 20 ns.
 */
#include <string.h>

#include "engine/host/gs_buckets.h"
#include "engine/host/gs_job.h"
#include "engine/host/gs_key.h"
#include "engine/host/gs_refine.h"
#include "engine/host/gs_scan.h"
#include "engine/host/gs_sort.h"

#define CACHE_LINE	64

/*
 * What a row costs in each step, for the progress: ns of engine_bench with 10^7
 * rows, of which only the ratios count.  Rows of runs that tie are counted anew
 * by each loop that handles them.
 */
#define SCAN_COST		3.0
#define PASS_COST		4.0
#define TIES_COST		1.8		/* by the other bits of the item */
#define BUCKET_COST		1.4		/* of each visit to a row in its bucket */
#define REFINE_COST		3.0
#define EMIT_COST		0.9

/* A row in a bucket is looked at, counted, moved twice and compared with its neighbour. */
#define BUCKET_VISITS	5

/* Planned before the layout is known. */
#define UNKNOWN_COST	(SCAN_COST + 3 * PASS_COST + TIES_COST + REFINE_COST + EMIT_COST)

/* Keeps every size below far from overflowing. */
#define MAX_ROWS	(UINT64_C(1) << 48)

static uint64_t
round_to_line(uint64_t bytes)
{
	return (bytes + CACHE_LINE - 1) & ~(uint64_t) (CACHE_LINE - 1);
}

size_t
gs_sort_workspace_bytes(uint64_t nrows)
{
	uint64_t	bytes;

	if (nrows > MAX_ROWS)
		return SIZE_MAX;
	bytes = round_to_line(sizeof(gs_scratch)) + 2 * round_to_line(nrows * sizeof(uint64_t));
	return bytes > SIZE_MAX ? SIZE_MAX : (size_t) bytes;
}

/* GS_INVALID comes before GS_NO_SPACE. */
static gs_status
check_args(const gs_sort_args *args, const gs_sort_result *result)
{
	if (args == NULL || result == NULL)
		return GS_INVALID;
	if (args->nplanes > GS_MAX_PLANES || (args->nplanes > 0 && args->planes == NULL))
		return GS_INVALID;
	if (args->id_bytes != 4 && args->id_bytes != 8)
		return GS_INVALID;
	if (args->nrows > MAX_ROWS || (args->id_bytes == 4 && args->nrows > UINT64_C(1) << 32))
		return GS_INVALID;
	if (args->workspace == NULL || (uintptr_t) args->workspace % CACHE_LINE != 0)
		return GS_INVALID;
	for (unsigned i = 0; i < args->nplanes; i++)
	{
		const gs_plane *plane = &args->planes[i];

		if (plane->words == NULL && args->nrows > 0)
			return GS_INVALID;
		if (plane->nulls != NULL && (unsigned) plane->null_order > GS_NULLS_LAST)
			return GS_INVALID;
	}
	if (args->workspace_bytes < gs_sort_workspace_bytes(args->nrows))
		return GS_NO_SPACE;
	return GS_OK;
}

static void
start_job(gs_job *job, const gs_sort_args *args)
{
	char	   *workspace = args->workspace;
	uint64_t	half = round_to_line(args->nrows * sizeof(uint64_t));

	*job = (gs_job) {
		.nrows = args->nrows,
		.equal = args->equal,
		.cancel = args->cancel,
		.also_cancel = args->also_cancel,
		.progress = args->progress,
		.id_bits = args->nrows > 1 ? gs_bit_width(args->nrows - 1) : 0,
	};
	job->scratch = (gs_scratch *) workspace;
	job->layout = &job->scratch->layout;
	workspace += round_to_line(sizeof(gs_scratch));
	job->items = (uint64_t *) workspace;
	job->spare = (uint64_t *) (workspace + half);
	if (job->equal != NULL)
		memset(job->equal, 0, (job->nrows + 63) / 64 * sizeof(uint64_t));
}

/* From here on a row of work costs so much.  False when cancelled. */
static bool
begin_step(gs_job *job, double row_cost)
{
	bool		cancelled = gs_job_look(job);

	job->row_cost = row_cost;
	return !cancelled;
}

/* Plan the rest of the sort: so much for each row until the refinement, and that. */
static void
plan_rest(gs_job *job, double row_cost)
{
	double		refine_cost = job->bits_behind_first > 0 || job->equal != NULL ? REFINE_COST : 0;

	gs_progress_plan(job->progress, (double) job->nrows * (row_cost + refine_cost + EMIT_COST));
}

/* Unpack ids [begin, end) from the items. */
static void
emit_range(const gs_job *job, void *ids, unsigned id_bytes, uint64_t begin, uint64_t end)
{
	const uint64_t *items = job->items;
	const uint64_t id_mask = gs_low_mask(job->id_bits);

	if (id_bytes == 4)
		for (uint64_t i = begin; i < end; i++)
			((uint32_t *) ids)[i] = (uint32_t) (items[i] & id_mask);
	else
		for (uint64_t i = begin; i < end; i++)
			((uint64_t *) ids)[i] = items[i] & id_mask;
}

/* The ids [begin, end) of rows that are all equal. */
static void
emit_identity(void *ids, unsigned id_bytes, uint64_t begin, uint64_t end)
{
	if (id_bytes == 4)
		for (uint64_t i = begin; i < end; i++)
			((uint32_t *) ids)[i] = (uint32_t) i;
	else
		for (uint64_t i = begin; i < end; i++)
			((uint64_t *) ids)[i] = i;
}

/* Write all ids to the half that does not hold the items. */
static gs_status
emit_ids(gs_job *job, unsigned id_bytes)
{
	bool		identity = job->layout->key_bits == 0;

	if (!begin_step(job, EMIT_COST))
		return GS_CANCELLED;
	for (uint64_t begin = 0; begin < job->nrows; begin += GS_POLL_ROWS)
	{
		uint64_t	left = job->nrows - begin;
		uint64_t	end = begin + (left < GS_POLL_ROWS ? left : GS_POLL_ROWS);

		if (identity)
			emit_identity(job->spare, id_bytes, begin, end);
		else
			emit_range(job, job->spare, id_bytes, begin, end);
		if (gs_job_cancelled(job, end - begin))
			return GS_CANCELLED;
	}
	return GS_OK;
}

/* All rows are equal: set every bit but the first. */
static void
mark_all_equal(gs_job *job)
{
	if (job->equal == NULL || job->nrows == 0)
		return;
	memset(job->equal, 0xff, job->nrows / 64 * sizeof(uint64_t));
	if (job->nrows % 64 != 0)
		job->equal[job->nrows / 64] = gs_low_mask(job->nrows % 64);
	job->equal[0] &= ~UINT64_C(1);
}

/* Sort the scanned items by the digits, which are the section's leading ones. */
static bool
partition_items(gs_job *job, gs_digits digits)
{
	uint64_t   *sorted;

	if (!begin_step(job, PASS_COST))
		return false;
	sorted = gs_radix_partition(job, digits, job->items, job->spare, job->nrows);
	if (sorted == NULL)
		return false;
	if (sorted != job->items)
		gs_job_swap_halves(job);
	return begin_step(job, TIES_COST) &&
		gs_items_sort_ties(job, (gs_range) {0, job->nrows}, digits.low_bit);
}

/* Sort them by way of buckets, of which the digit is the number. */
static bool
sort_buckets(gs_job *job, gs_digits digit)
{
	return begin_step(job, BUCKET_COST) && gs_buckets_sort(job, digit);
}

static bool
reverse_items(gs_job *job)
{
	return begin_step(job, PASS_COST) && gs_scan_reverse(job);
}

/*
 * The digits that scanning counts: the one that makes buckets, or those of the radix sort.
 * gs_radix_bits() of the section's leading bits take a pass over all rows, the others only
 * sort out ties.
 */
static gs_digits
plan_digits(gs_job *job, unsigned section_bits, unsigned bucket_bits)
{
	unsigned	bits = bucket_bits > 0 ? bucket_bits : gs_radix_bits(job->nrows, section_bits);
	unsigned	low_bit = job->id_bits + section_bits - bits;
	gs_digits	digits;

	if (bucket_bits > 0)
		digits = (gs_digits) {.count = 1, .width = bits, .low_bit = low_bit};
	else
		digits = gs_radix_digits(job->nrows, low_bit, bits);
	plan_rest(job, SCAN_COST + (bucket_bits > 0 ? (1 + BUCKET_VISITS) * BUCKET_COST
								: digits.count * PASS_COST + TIES_COST));
	return digits;
}

/* Sort on the first section, then refine what ties on it. */
static gs_status
sort_items(gs_job *job)
{
	gs_section *section = &job->scratch->section;
	gs_cursor	cursor = gs_layout_start(job->layout);
	unsigned	section_bits = gs_job_section_bits(job, cursor);
	unsigned	bucket_bits = gs_bucket_bits(job->nrows, section_bits);
	gs_digits	digits;
	gs_order	order;
	bool		done = true;

	gs_section_build(section, job->layout, &cursor, section_bits);
	job->bits_behind_first = cursor.bits_left;
	digits = plan_digits(job, section_bits, bucket_bits);
	if (!begin_step(job, SCAN_COST) || !gs_scan_rows(job, section, digits, &order))
		return GS_CANCELLED;
	job->moved = !order.ascending;
	if (order.ascending || order.descending)
		plan_rest(job, order.ascending ? 0 : PASS_COST);
	if (!order.ascending)
		done = order.descending ? reverse_items(job)
			: bucket_bits > 0 ? sort_buckets(job, digits) : partition_items(job, digits);
	if (!done || !begin_step(job, REFINE_COST) ||
		!gs_refine(job, (gs_range) {0, job->nrows}, cursor))
		return GS_CANCELLED;
	return GS_OK;
}

gs_status
gs_sort(const gs_sort_args *args, gs_sort_result *result)
{
	gs_status	status = check_args(args, result);
	gs_job		job;

	if (status != GS_OK)
		return status;
	start_job(&job, args);
	if (gs_cancelled(args->cancel))
		return GS_CANCELLED;
	gs_progress_plan(args->progress,
					 (double) args->nrows * (args->nplanes * GS_KEY_COST + UNKNOWN_COST));
	status = gs_key_build(&job.scratch->layout, args);
	if (status != GS_OK)
		return status;

	/* all of a key in an item, and no id */
	job.keys_only = args->want_keys && args->equal == NULL && job.layout->key_bits > 0 &&
		job.layout->key_bits <= GS_SECTION_MAX_BITS;
	if (job.keys_only)
		job.id_bits = 0;
	if (job.layout->key_bits == 0)
		mark_all_equal(&job);
	else
		status = sort_items(&job);
	if (status == GS_OK && !job.keys_only)
		status = emit_ids(&job, args->id_bytes);
	if (status != GS_OK)
		return status;

	gs_progress_finish(args->progress);
	result->ids = job.keys_only ? NULL : job.spare;
	result->keys = job.keys_only ? job.items : NULL;
	result->layout = job.layout;
	result->key_bits = (unsigned) job.layout->key_bits;
	result->passes = job.passes;
	result->refined_rows = job.refined_rows;
	result->presorted = !job.moved;
	return GS_OK;
}
