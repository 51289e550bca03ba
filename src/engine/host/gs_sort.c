/*
 * gs_sort.c
 *		The host engine: a stable sort of rows on one core.
 *
 * Many rows are sorted as several participants do it (gs_shared_sort.c), by one participant that
 * waits for no other.  Few rows, which fit the caches, need fewer steps:
 *
 *	gs_key		reads all planes: the bits that vary make up the key
 *	gs_scan		reads the planes again: makes one item a row, with as much of the key as
 *				fits beside the row id; notices rows that are in order
 *	gs_radix	sorts the items on as many leading bits as pay
 *	gs_items	sorts neighbours that tie on those by the item's other bits
 *	gs_refine	sorts rows that tie on the whole item by further sections of the
 *				key, which are read from the planes row by row
 *	this file	unpacks the row ids
 *
 * If keys are wanted and fit a word, items have no ids, and are the result.
 *
 * The workspace is a table of counters and two halves of one word a row.  Items move from half to
 * half; in the end the ids go to the half that has no items.
 *
 * Every loop over many rows accounts for its work with gs_job_cancelled(), and each function that
 * may be cancelled returns false then, up to the functions here.
 */
#include <string.h>

#include "engine/host/gs_sort_private.h"
#include "engine/host/gs_sort.h"

/* From so many rows on, it pays to distribute them over buckets. */
#ifndef GS_MANY_ROWS
#define GS_MANY_ROWS	(UINT64_C(1) << 20)
#endif

/*
 * What a row costs in each step, for the progress: ns measured by engine_bench with 10^7 rows, of
 * which only the ratios count.  Rows of runs that tie are counted anew by each loop that handles
 * them.
 */
#define SCAN_COST		3.0
#define PASS_COST		4.0
#define TIES_COST		1.8		/* to sort ties by the other bits of the item */
#define REFINE_COST		3.0
#define EMIT_COST		0.9

/* What is planned for a row before the layout is known. */
#define UNKNOWN_COST	(SCAN_COST + 3 * PASS_COST + TIES_COST + REFINE_COST + EMIT_COST)

/* Checks the arguments.  GS_INVALID comes before GS_NO_SPACE. */
static gs_status
check_args(const gs_sort_args *args, const gs_sort_result *result)
{
	if (args == NULL || result == NULL)
		return GS_INVALID;
	if (args->nplanes > GS_MAX_PLANES || (args->nplanes > 0 && args->planes == NULL))
		return GS_INVALID;
	if (args->id_bytes != 4 && args->id_bytes != 8)
		return GS_INVALID;
	if (args->nrows > GS_MAX_ROWS || (args->id_bytes == 4 && args->nrows > UINT64_C(1) << 32))
		return GS_INVALID;
	if (args->workspace == NULL || (uintptr_t) args->workspace % GS_LINE_BYTES != 0)
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
	uint64_t	half = gs_workspace_half_bytes(args->nrows);

	*job = (gs_job) {
		.nrows = args->nrows,
		.equal = args->equal,
		.cancel = args->cancel,
		.also_cancel = args->also_cancel,
		.progress = args->progress,
		.id_bits = args->nrows > 1 ? gs_bit_width(args->nrows - 1) : 0,
		.positions = {0, args->nrows},
	};
	job->scratch = (gs_scratch *) workspace;
	job->layout = &job->scratch->layout;
	workspace += gs_workspace_front_bytes(args->nrows);
	job->items = (uint64_t *) workspace;
	job->spare = (uint64_t *) (workspace + half);
	if (job->equal != NULL)
		memset(job->equal, 0, (job->nrows + 63) / 64 * sizeof(uint64_t));
}

/* Begins a step in which a row of work costs row_cost.  Returns false when cancelled. */
static bool
begin_step(gs_job *job, double row_cost)
{
	bool		cancelled = gs_job_look(job);

	job->row_cost = row_cost;
	return !cancelled;
}

/* Plans the rest of the sort: row_cost for each row until the refinement, and the cost of that. */
static void
plan_rest(gs_job *job, double row_cost)
{
	double		refine_cost = job->bits_behind_first > 0 || job->equal != NULL ? REFINE_COST : 0;

	gs_progress_plan(job->progress, (double) job->nrows * (row_cost + refine_cost + EMIT_COST));
}

/* Unpacks the ids of positions [begin, end) from the items. */
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

/* Writes the ids of positions [begin, end) of rows that are all equal. */
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

/* Writes all ids to the half that does not hold the items. */
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

/*
 * Sorts the scanned items, by the digits, which are the section's leading bits, and then by its
 * other bits.  Returns false when cancelled.
 */
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

static bool
reverse_items(gs_job *job)
{
	return begin_step(job, PASS_COST) && gs_scan_reverse(job);
}

/*
 * Plans the digits that scanning counts: they are the gs_radix_bits() leading bits of the section,
 * and each takes a pass over all rows; the section's other bits only sort out ties.
 */
static gs_digits
plan_digits(gs_job *job, unsigned section_bits)
{
	unsigned	bits = gs_radix_bits(job->nrows, section_bits);
	gs_digits	digits = gs_radix_digits(job->nrows, job->id_bits + section_bits - bits, bits);

	plan_rest(job, SCAN_COST + digits.count * PASS_COST + TIES_COST);
	return digits;
}

/* Sorts on the first section, then refines the rows that tie on it. */
static gs_status
sort_items(gs_job *job)
{
	gs_section *section = &job->scratch->section;
	gs_cursor	cursor = gs_layout_start(job->layout);
	unsigned	section_bits = gs_job_section_bits(job, cursor);
	gs_digits	digits;
	gs_order	order;
	bool		done = true;

	gs_section_build(section, job->layout, &cursor, section_bits);
	job->bits_behind_first = cursor.bits_left;
	digits = plan_digits(job, section_bits);
	if (!begin_step(job, SCAN_COST) || !gs_scan_rows(job, section, digits, &order))
		return GS_CANCELLED;
	job->moved = !order.ascending;
	if (order.ascending || order.descending)
		plan_rest(job, order.ascending ? 0 : PASS_COST);
	if (!order.ascending)
		done = order.descending ? reverse_items(job) : partition_items(job, digits);
	if (!done || !begin_step(job, REFINE_COST) ||
		!gs_refine(job, (gs_range) {0, job->nrows}, cursor))
		return GS_CANCELLED;
	return GS_OK;
}

/*
 * Sorts many rows as several participants do it, by one that need not wait.  What a participant and
 * a shared sort have beside the halves of the workspace lies in front of these.
 */
static gs_status
sort_many(const gs_sort_args *args, gs_sort_result *result)
{
	gs_sort_args inner = *args;
	gs_shared_sort *shared = args->workspace;
	gs_participant *participant;

	inner.workspace = (char *) args->workspace + gs_workspace_front_bytes(args->nrows);
	inner.nplanes = 0;
	GS_TRY(gs_shared_sort_init(shared, &inner, 1));
	inner.nplanes = args->nplanes;
	participant = gs_participant_make((char *) args->workspace +
									  gs_shared_sort_bytes(args->nrows, 0, 1), shared, &inner, 0);
	if (args->equal != NULL)
		memset(args->equal, 0, (args->nrows + 63) / 64 * sizeof(uint64_t));
	gs_progress_plan(args->progress,
					 (double) args->nrows * (args->nplanes * GS_KEY_COST + UNKNOWN_COST));
	GS_TRY(gs_participant_read_key(participant));
	while (!gs_shared_sort_done(shared, 0))
	{
		gs_decide(participant);
		if (!gs_steps_work(participant))
			return GS_CANCELLED;
	}
	gs_participant_result(participant, result);
	return GS_OK;
}

/*
 * Returns whether there are enough rows for buckets to pay.  Their tables always fit, unless
 * constants are changed.
 */
static bool
is_many(uint64_t nrows)
{
	return nrows >= GS_MANY_ROWS &&
		gs_shared_sort_bytes(nrows, 0, 1) + gs_participant_bytes(nrows, 1) <=
		gs_workspace_front_bytes(nrows);
}

static gs_status
sort_few(const gs_sort_args *args, gs_sort_result *result)
{
	gs_status	status;
	gs_job		job;

	start_job(&job, args);
	gs_progress_plan(args->progress,
					 (double) args->nrows * (args->nplanes * GS_KEY_COST + UNKNOWN_COST));
	status = gs_key_build(&job.scratch->layout, args);
	if (status != GS_OK)
		return status;

	/* if only keys are wanted, an item holds the whole key, and no id */
	job.keys_only = args->want_keys && args->equal == NULL && job.layout->key_bits > 0 &&
		job.layout->key_bits <= GS_SECTION_MAX_BITS;
	if (job.keys_only)
		job.id_bits = 0;
	if (job.layout->key_bits > 0)
		status = sort_items(&job);
	else if (job.equal != NULL && job.nrows > 0)
		gs_mark_all(&job, false);
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

gs_status
gs_sort(const gs_sort_args *args, gs_sort_result *result)
{
	gs_status	status = check_args(args, result);

	if (status != GS_OK)
		return status;
	if (gs_cancelled(args->cancel) || gs_cancelled(args->also_cancel))
		return GS_CANCELLED;
	return is_many(args->nrows) ? sort_many(args, result) : sort_few(args, result);
}
