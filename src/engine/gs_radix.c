/*
 * gs_radix.c
 *		Least-significant-digit radix sort, out of place.
 */
#include "gs_radix.h"

/* How a span of bits is cut into digits. */
typedef struct digits
{
	unsigned	count;
	unsigned	width;
	unsigned	low_bit;
} digits;

static digits
choose_digits(uint64_t count, unsigned low_bit, unsigned high_bit)
{
	unsigned	widest = count < 65536 ? 8 : GS_DIGIT_MAX_BITS;
	unsigned	span = high_bit - low_bit;
	digits		d;

	d.low_bit = low_bit;
	d.count = (span + widest - 1) / widest;
	d.width = (span + d.count - 1) / d.count;
	return d;
}

static bool
count_digits(gs_job *job, const uint64_t *items, uint64_t count, digits d)
{
	const uint64_t mask = gs_low_mask(d.width);

	for (unsigned i = 0; i < d.count; i++)
		for (uint64_t j = 0; j <= mask; j++)
			job->scratch->counts[i][j] = 0;

	for (uint64_t begin = 0; begin < count; begin += 512)
	{
		uint64_t	end = count - begin < 512 ? count : begin + 512;

		for (unsigned i = 0; i < d.count; i++)
		{
			uint64_t   *counts = job->scratch->counts[i];
			unsigned	shift = d.low_bit + i * d.width;

			for (uint64_t j = begin; j < end; j++)
				counts[(items[j] >> shift) & mask]++;
		}
		if (gs_job_cancelled(job, end - begin))
			return false;
	}
	return true;
}

/* Turn counts into first positions; false when all items are in one bucket. */
static bool
start_buckets(uint64_t *counts, uint64_t nbuckets, uint64_t count)
{
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < nbuckets; i++)
	{
		uint64_t	c = counts[i];

		if (c == count)
			return false;
		counts[i] = sum;
		sum += c;
	}
	return true;
}

static bool
scatter(gs_job *job, uint64_t *restrict to, const uint64_t *from, uint64_t count,
		uint64_t *restrict starts, unsigned shift, uint64_t mask)
{
	for (uint64_t begin = 0; begin < count; begin += GS_POLL_ROWS)
	{
		uint64_t	end = count - begin < GS_POLL_ROWS ? count : begin + GS_POLL_ROWS;

		for (uint64_t i = begin; i < end; i++)
			to[starts[(from[i] >> shift) & mask]++] = from[i];
		if (gs_job_cancelled(job, end - begin))
			return false;
	}
	return true;
}

/*
 * Sort by bits [low_bit, high_bit).  Returns items or spare, whichever holds
 * the result, or NULL when cancelled.
 */
uint64_t *
gs_radix_sort(gs_job *job, uint64_t *items, uint64_t *spare, uint64_t count,
			  unsigned low_bit, unsigned high_bit)
{
	digits		d = choose_digits(count, low_bit, high_bit);
	const uint64_t mask = gs_low_mask(d.width);

	if (!count_digits(job, items, count, d))
		return NULL;
	for (unsigned i = 0; i < d.count; i++)
	{
		uint64_t   *starts = job->scratch->counts[i];
		uint64_t   *swap = items;

		if (!start_buckets(starts, mask + 1, count))
			continue;
		if (!scatter(job, spare, items, count, starts, d.low_bit + i * d.width, mask))
			return NULL;
		items = spare;
		spare = swap;
		if (count == job->nrows)
			job->passes++;
	}
	return items;
}
