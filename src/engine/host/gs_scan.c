/*
 * gs_scan.c
 *		Makes items of all rows, with the key's first section.
 *
 * There is one pass over the planes, in blocks that stay in the first-level cache: it packs a
 * block, sees whether the rows are still in order, and counts the digits for the radix sort.  Rows
 * that are in order need no counters, so counting begins only at the first block that spoils the
 * order, and the blocks before are counted then.  Random rows spoil the order in the first block;
 * after that nothing is compared any more.
 *
 * Descending rows are reversed instead of sorted.  Rows may tie on the section; a reversal that
 * leaves every run of ties in its old order is a stable sort.
 */
#include "engine/gs_layout.h"
#include "engine/host/gs_sort_private.h"

#define BLOCK_ROWS	GS_PACK_BLOCK_ROWS

static inline bool
in_order(gs_order order)
{
	return order.ascending || order.descending;
}

/* Returns which orders of rows [0, begin) the rows up to `end` go on in. */
static gs_order
extend_order(const gs_job *job, gs_order order, uint64_t begin, uint64_t end)
{
	uint64_t	first = begin > 0 ? begin - 1 : 0;

	return gs_items_order(job->items + first, end - first, job->id_bits, order);
}

/*
 * Counts the digits of the rows before `end`, which were in order, once a later row has spoilt the
 * order.
 */
static bool
count_blocks(gs_job *job, gs_digits digits, uint64_t end)
{
	for (uint64_t row = 0; row < end; row += BLOCK_ROWS)
	{
		gs_radix_count(job, digits, job->items + row, BLOCK_ROWS);
		if (gs_job_cancelled(job, BLOCK_ROWS))
			return false;
	}
	return true;
}

/*
 * Fills job->items, and the counters of digits unless the rows are in order.  *order tells which
 * order they are in, if any.  Returns false when cancelled.
 */
bool
gs_scan_rows(gs_job *job, const gs_section *section, gs_digits digits, gs_order *order)
{
	gs_radix_clear(job, digits);
	*order = (gs_order) {true, true};

	for (uint64_t row = 0; row < job->nrows; row += BLOCK_ROWS)
	{
		uint64_t	left = job->nrows - row;
		unsigned	count = (unsigned) (left < BLOCK_ROWS ? left : BLOCK_ROWS);

		if (job->keys_only)
			gs_pack_keys(job->items + row, section, row, count);
		else
			gs_pack_rows(job->items + row, section, job->id_bits, row, count);
		if (in_order(*order))
		{
			*order = extend_order(job, *order, row, row + count);
			if (!in_order(*order) && !count_blocks(job, digits, row))
				return false;
		}
		if (!in_order(*order))
			gs_radix_count(job, digits, job->items + row, count);
		if (gs_job_cancelled(job, count))
			return false;
	}
	return true;
}

/*
 * Puts descending items in ascending order; the halves change roles.  Returns false when cancelled.
 */
bool
gs_scan_reverse(gs_job *job)
{
	const uint64_t *from = job->items;
	uint64_t   *to = job->spare;
	uint64_t	end = job->nrows;

	while (end > 0)
	{
		uint64_t	begin = end - 1;

		while (begin > 0 && (from[begin - 1] ^ from[begin]) >> job->id_bits == 0)
			begin--;
		for (uint64_t i = begin; i < end; i++)
			*to++ = from[i];
		if (gs_job_cancelled(job, end - begin))
			return false;
		end = begin;
	}
	gs_job_swap_halves(job);
	return true;
}
