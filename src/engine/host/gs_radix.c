/*
 * gs_radix.c
 *		Least-significant-digit radix sort of items, out of place.
 *
 * The digits of all passes are counted in one go over the items (fused with
 * packing for the sort's first section), then each pass scatters the items from
 * one half of the workspace to the other.  A digit in which all items agree
 * costs no pass.  LSD has no bad distribution: what it costs depends on the
 * number of items and of passes only.
 *
 * The width of digits was measured on a Zen 4 core (L1 32 KB, L2 1 MB, 32 MB of L3), with random
 * items of 8 bytes and huge pages; the table has ns a row for packing, counting, all passes and the
 * unpacking of ids:
 *
 *		items			10^5	10^6	10^7	3*10^7
 *		4 x 8 bits		9.1		11		10		12
 *		4 x 9 bits		9.7		8.1		10		-
 *		3 x 10 bits		7.9		6.0		7.6		8.3
 *		3 x 11 bits		7.3		13		16		16
 *		MSD 10, 2 x 11	35		8.5		7.4		8.6
 *		MSD 8, 3 x 8	11		8.9		6.9		7-20
 *
 * A pass over 10 bits costs what one over 8 bits does, about 1.7 ns a row; 2^11 streams are beyond
 * the address translation and the first two cache levels, and cost 4.5.  Software write-combining
 * (a cache line per bucket, flushed with ordinary or non-temporal stores) took 3.0 ns a row with 8
 * bits and 3.2 with 11, twice what plain stores need with 10 bits.  A first pass on the most
 * significant digit, after which buckets fit the cache, gained less than 1 ns a row there as long
 * as the buckets' ties were left for later.  If the ties are sorted bucket by bucket as well, and
 * lines are written past the caches, it pays (gs_scatter.c).
 */
#include <string.h>

#include "engine/host/gs_sort_private.h"

/*
 * Few items are sorted by narrower digits, since 2^width counters have to be cleared and summed up.
 * ns a row of gs_items_sort() by width:
 *
 *		items	32		64		128		192		512		2048	3000	8000
 *		6 bits	6.3		5.1		4.7		5.8		5.2		5.2		5.3		5.4
 *		8 bits	11		7.4		5.5		4.6		3.9		3.9		5.2		5.2
 *		10 bits	17		17		10		8.2		5.1		4.3		4.3		4.5
 */
#define ROWS_FOR_8_BITS		160
#define ROWS_FOR_10_BITS	2500

/*
 * How many bits to sort on beyond log2(rows).  With b bits beyond, one random row in 2^b ties with
 * another; to sort out such a pair by the other bits of the item costs about 15 ns, a pass over all
 * rows 1.7 ns each.  That is even at 3 bits; 1 to 5 bits differ by less than 1 ns a row from 2000
 * to 6*10^7 rows.
 */
#define SPARE_BITS			3

/* So many items are counted or scattered between two looks at *cancel. */
#define CHUNK_ITEMS			(UINT64_C(1) << 14)

static unsigned
widest_digit(uint64_t rows)
{
	if (rows < ROWS_FOR_8_BITS)
		return 6;
	return rows < ROWS_FOR_10_BITS ? 8 : GS_DIGIT_MAX_BITS;
}

/* Returns how many of the available bits of the key so many rows should be sorted on at first. */
unsigned
gs_radix_bits(uint64_t rows, unsigned available)
{
	unsigned	digit = widest_digit(rows);
	unsigned	wanted = gs_bit_width(rows - 1) + SPARE_BITS;

	wanted = (wanted + digit - 1) / digit * digit;
	return wanted < available ? wanted : available;
}

/* Returns how many of the available bits so many rows can be sorted on at most at once. */
unsigned
gs_radix_most_bits(uint64_t rows, unsigned available)
{
	unsigned	most = GS_MAX_DIGITS * widest_digit(rows);

	return most < available ? most : available;
}

/* Cuts bits [low_bit, low_bit + bits) into as few digits as possible. */
gs_digits
gs_radix_digits(uint64_t rows, unsigned low_bit, unsigned bits)
{
	unsigned	widest = widest_digit(rows);
	gs_digits	digits = {.low_bit = low_bit};

	digits.count = (bits + widest - 1) / widest;
	if (digits.count > 0)
		digits.width = (bits + digits.count - 1) / digits.count;
	return digits;
}

static inline unsigned
digit_shift(gs_digits digits, unsigned i)
{
	return digits.low_bit + i * digits.width;
}

/* Sets the counters of all digits to zero. */
void
gs_radix_clear(gs_job *job, gs_digits digits)
{
	for (unsigned i = 0; i < digits.count; i++)
		memset(job->scratch->counts[i], 0, sizeof(uint64_t) << digits.width);
}

/*
 * Counts two digits in one loop: the additions for one digit hide the latency of those for the
 * other.
 */
static void
count_two(uint64_t *restrict low_counts, uint64_t *restrict high_counts, const uint64_t *items,
		  uint64_t count, gs_digits digits)
{
	const uint64_t mask = gs_low_mask(digits.width);

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	key = items[i] >> digits.low_bit;

		low_counts[key & mask]++;
		high_counts[(key >> digits.width) & mask]++;
	}
}

static void
count_one(uint64_t *counts, const uint64_t *items, uint64_t count, gs_digits digits)
{
	const uint64_t mask = gs_low_mask(digits.width);

	for (uint64_t i = 0; i < count; i++)
		counts[(items[i] >> digits.low_bit) & mask]++;
}

/*
 * Adds items to the counters of all digits.  The items are read once for each pair of digits, so
 * they had better be in the first-level cache.
 */
void
gs_radix_count(gs_job *job, gs_digits digits, const uint64_t *items, uint64_t count)
{
	gs_scratch *scratch = job->scratch;

	for (unsigned i = 0; i < digits.count; i += 2)
	{
		gs_digits	rest = digits;

		rest.low_bit = digit_shift(digits, i);
		if (i + 1 < digits.count)
			count_two(scratch->counts[i], scratch->counts[i + 1], items, count, rest);
		else
			count_one(scratch->counts[i], items, count, rest);
	}
}

/* Turns counters into the first positions of buckets; returns false if one bucket has all items. */
static bool
start_buckets(uint64_t *counts, unsigned width, uint64_t count)
{
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < UINT64_C(1) << width; i++)
	{
		uint64_t	c = counts[i];

		if (c == count)
			return false;
		counts[i] = sum;
		sum += c;
	}
	return true;
}

/*
 * Not inlined: the loop needs the registers that a caller would take, which would cost 10 % of its
 * time.
 */
__attribute__((noinline)) static void
scatter(uint64_t *restrict to, const uint64_t *restrict from, uint64_t count,
		uint64_t *restrict starts, unsigned shift, uint64_t mask)
{
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	item = from[i];

		to[starts[(item >> shift) & mask]++] = item;
	}
}

/* Distributes items over the buckets of one digit; returns false when cancelled. */
static bool
scatter_digit(gs_job *job, uint64_t *to, const uint64_t *from, uint64_t count, gs_digits digits,
			  unsigned i)
{
	for (uint64_t done = 0; done < count; done += CHUNK_ITEMS)
	{
		uint64_t	chunk = count - done < CHUNK_ITEMS ? count - done : CHUNK_ITEMS;

		scatter(to, from + done, chunk, job->scratch->counts[i], digit_shift(digits, i),
				gs_low_mask(digits.width));
		if (gs_job_cancelled(job, chunk))
			return false;
	}
	return true;
}

/*
 * Sorts by all digits, which have been counted; the counters are used up.  Returns items or spare,
 * whichever holds the result, or NULL when cancelled.
 */
uint64_t *
gs_radix_partition(gs_job *job, gs_digits digits, uint64_t *items, uint64_t *spare,
				   uint64_t count)
{
	for (unsigned i = 0; i < digits.count; i++)
	{
		uint64_t   *swap = items;

		if (!start_buckets(job->scratch->counts[i], digits.width, count))
			continue;
		if (!scatter_digit(job, spare, items, count, digits, i))
			return NULL;
		items = spare;
		spare = swap;
		if (count == job->nrows)
			job->passes++;
	}
	return items;
}
