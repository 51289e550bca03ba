/*
 * gs_sort.c
 *		The host device: a stable sort of rows on one core.
 */
#include <string.h>

#include "gs_job.h"
#include "gs_refine.h"
#include "gs_scan.h"

#define CACHE_LINE	64

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

/* All rows are equal: the ids in order of arrival. */
static void
emit_identity(const gs_job *job, const gs_sort_args *args, gs_sort_result *result)
{
	result->ids = job->spare;
	if (args->id_bytes == 4)
		for (uint64_t i = 0; i < job->nrows; i++)
			((uint32_t *) result->ids)[i] = (uint32_t) i;
	else
		for (uint64_t i = 0; i < job->nrows; i++)
			((uint64_t *) result->ids)[i] = i;

	if (job->equal == NULL || job->nrows == 0)
		return;
	memset(job->equal, 0xff, job->nrows / 64 * sizeof(uint64_t));
	if (job->nrows % 64 != 0)
		job->equal[job->nrows / 64] = gs_low_mask(job->nrows % 64);
	job->equal[0] &= ~UINT64_C(1);
}

/* Unpack ids [begin, end) from the items. */
static void
emit_range(void *ids, unsigned id_bytes, const gs_job *job, uint64_t begin, uint64_t end)
{
	const uint64_t id_mask = gs_low_mask(job->id_bits);

	if (id_bytes == 4)
		for (uint64_t i = begin; i < end; i++)
			((uint32_t *) ids)[i] = (uint32_t) (job->items[i] & id_mask);
	else
		for (uint64_t i = begin; i < end; i++)
			((uint64_t *) ids)[i] = job->items[i] & id_mask;
}

/* Unpack the ids into the other half.  False when cancelled. */
static bool
emit_ids(gs_job *job, const gs_sort_args *args, gs_sort_result *result)
{
	result->ids = job->spare;
	for (uint64_t i = 0; i < job->nrows; i += GS_POLL_ROWS)
	{
		uint64_t	end = job->nrows - i < GS_POLL_ROWS ? job->nrows : i + GS_POLL_ROWS;

		emit_range(result->ids, args->id_bytes, job, i, end);
		if (gs_job_cancelled(job, end - i))
			return false;
	}
	return true;
}

/* Sort the scanned items by the digits, which are the slice's leading ones. */
static bool
partition_items(gs_job *job, gs_digits digits)
{
	uint64_t   *sorted = gs_radix_partition(job, digits, job->items, job->spare, job->nrows);

	if (sorted == NULL)
		return false;
	if (sorted != job->items)
		gs_job_swap_halves(job);
	return gs_items_sort_ties(job, (gs_range) {0, job->nrows}, digits.low_bit);
}

/* Sort on the first slice, then refine what ties on it. */
static gs_status
sort_items(gs_job *job)
{
	gs_slice   *slice = &job->scratch->slice;
	gs_cursor	cursor = gs_layout_start(job->layout);
	unsigned	slice_bits = gs_job_slice_bits(job, cursor);
	unsigned	bits = gs_radix_bits(job->nrows, slice_bits);
	unsigned	low_bit = job->id_bits + slice_bits - bits;
	gs_digits	digits = gs_radix_digits(job->nrows, low_bit, bits);
	gs_order	order;
	bool		done = true;

	gs_slice_build(slice, job->layout, &cursor, slice_bits);
	if (!gs_scan_rows(job, slice, digits, &order))
		return GS_CANCELLED;
	job->moved = !order.ascending;
	if (!order.ascending)
		done = order.descending ? gs_scan_reverse(job) : partition_items(job, digits);
	if (!done || !gs_refine(job, (gs_range) {0, job->nrows}, cursor))
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
	status = gs_layout_build(&job.scratch->layout, args);
	if (status != GS_OK)
		return status;

	if (job.layout->key_bits == 0)
		emit_identity(&job, args, result);
	else
	{
		status = sort_items(&job);
		if (status != GS_OK)
			return status;
		if (!emit_ids(&job, args, result))
			return GS_CANCELLED;
	}
	result->key_bits = (unsigned) job.layout->key_bits;
	result->passes = job.passes;
	result->refined_rows = job.refined_rows;
	result->presorted = !job.moved;
	return GS_OK;
}
