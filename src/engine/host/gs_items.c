/*
 * gs_items.c
 *		Sorting a range of items by the bits they carry.
 *
 * Up to RANK_ROWS items are sorted by rank.  More items are radix sorted, in the same range of both
 * halves: first on as many of the leading bits that vary as pay (gs_radix_bits()), and then the
 * runs that tie on these bits by the bits below.
 *
 * Both ways compare items as integers, with the row id in the low bits.  So they are stable, and no
 * two items are the same, except where only keys are sorted.  The recursion from radix sort to its
 * ties ends after few levels, since each level uses up more than log2(RANK_ROWS) bits.
 */
#include <string.h>

#include "engine/host/gs_sort_private.h"

/*
 * Measured on random items of 40 bits, ns a row (Zen 4):
 *
 *		items			2		4		8		16		24		32		64		128		512
 *		rank			3.8		2.8		3.7		5.9		8.7		12		22		44
 *		insertion		2.5		4.5		6.5		8.2		9.5		11		16		24
 *		merge			2.6		4.5		6.6		8.2		9.6		12		14		17		22
 *		radix			71		35		19		8.6		7.1		6.3		5.1		4.7		3.9
 */
#define RANK_ROWS	20

/* So many items are looked at before at least so many are sorted. */
#define SAMPLE_ITEMS	32
#define SAMPLED_ROWS	512

/* If more pairs of them tie, items tie so often that a digit more costs less than sorting ties. */
#define RANDOM_TIES		2

/* So many items are looked through between two looks at *cancel. */
#define BLOCK_ITEMS		1024

/*
 * Returns whether no item is less than the one before.  The loop does not stop early, since mostly
 * none is.
 */
static bool
block_ascends(const uint64_t *items, uint64_t count)
{
	uint64_t	falls = 0;

	for (uint64_t i = 1; i < count; i++)
		falls |= items[i] < items[i - 1];
	return falls == 0;
}

/* Returns whether no item's section is greater than that of the item before. */
static bool
block_descends(const uint64_t *items, uint64_t count, unsigned id_bits)
{
	uint64_t	rises = 0;

	for (uint64_t i = 1; i < count; i++)
		rises |= items[i] >> id_bits > items[i - 1] >> id_bits;
	return rises == 0;
}

gs_order
gs_items_order(const uint64_t *items, uint64_t count, unsigned id_bits, gs_order wanted)
{
	return (gs_order) {
		.ascending = wanted.ascending && block_ascends(items, count),
		.descending = wanted.descending && block_descends(items, count, id_bits),
	};
}

/*
 * Sorts items by rank: an item's position is the number of items less than it.  That is quadratic,
 * but without a branch that depends on the items.  spare is overwritten.
 */
static void
rank_sort(uint64_t *restrict items, uint64_t *restrict spare, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	item = items[i];
		uint64_t	rank = 0;

		for (uint64_t j = 0; j < count; j++)
			rank += items[j] < item;
		spare[rank] = item;
	}
	memcpy(items, spare, count * sizeof(*items));
}

/* Does the same for items of which some may be the same. */
static void
rank_sort_keys(uint64_t *restrict items, uint64_t *restrict spare, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	item = items[i];
		uint64_t	rank = 0;

		for (uint64_t j = 0; j < i; j++)
			rank += items[j] <= item;
		for (uint64_t j = i + 1; j < count; j++)
			rank += items[j] < item;
		spare[rank] = item;
	}
	memcpy(items, spare, count * sizeof(*items));
}

static inline uint64_t
block_rows(gs_range range, uint64_t begin)
{
	return range.end - begin < BLOCK_ITEMS ? range.end - begin : BLOCK_ITEMS;
}

/*
 * Sets *high_bit to one more than the highest bit in which items of a range differ; returns false
 * when cancelled.
 */
static bool
find_high_bit(gs_job *job, gs_range range, unsigned *high_bit)
{
	const uint64_t first = job->items[range.begin];
	uint64_t	difference = 0;

	for (uint64_t begin = range.begin; begin < range.end; begin += BLOCK_ITEMS)
	{
		uint64_t	count = block_rows(range, begin);

		for (uint64_t i = begin; i < begin + count; i++)
			difference |= job->items[i] ^ first;
		if (gs_job_cancelled(job, count))
			return false;
	}
	*high_bit = gs_bit_width(difference);
	return true;
}

static bool
copy_items(gs_job *job, uint64_t *to, const uint64_t *from, uint64_t count)
{
	for (uint64_t done = 0; done < count; done += BLOCK_ITEMS)
	{
		uint64_t	block = count - done < BLOCK_ITEMS ? count - done : BLOCK_ITEMS;

		memcpy(to + done, from + done, block * sizeof(*to));
		if (gs_job_cancelled(job, block))
			return false;
	}
	return true;
}

/*
 * Returns whether so many items tie on the bits from `shift` up, but not on those below, that it
 * pays to sort by more bits: from a sample, of which hardly two tie if the bits are random.
 */
static bool
sample_ties(const gs_job *job, gs_range range, unsigned shift)
{
	uint64_t	rows = gs_range_rows(range);
	uint64_t	step = rows / SAMPLE_ITEMS;
	uint64_t	sample[SAMPLE_ITEMS];
	unsigned	ties = 0;

	if (rows < SAMPLED_ROWS || shift <= job->id_bits)
		return false;
	for (unsigned i = 0; i < SAMPLE_ITEMS; i++)
	{
		uint64_t	item = job->items[range.begin + i * step] >> job->id_bits;
		unsigned	j;

		for (j = i; j > 0 && sample[j - 1] > item; j--)
			sample[j] = sample[j - 1];
		sample[j] = item;
	}
	for (unsigned i = 1; i < SAMPLE_ITEMS; i++)
		ties += sample[i] != sample[i - 1] &&
			(sample[i] ^ sample[i - 1]) >> (shift - job->id_bits) == 0;
	return ties > RANDOM_TIES;
}

/* Radix sorts a range by digits; the result is in job->items.  Returns false when cancelled. */
static bool
sort_digits(gs_job *job, gs_range range, gs_digits digits)
{
	uint64_t   *items = job->items + range.begin;
	uint64_t   *sorted;

	gs_radix_clear(job, digits);
	for (uint64_t begin = range.begin; begin < range.end; begin += BLOCK_ITEMS)
	{
		gs_radix_count(job, digits, job->items + begin, block_rows(range, begin));
		if (gs_job_cancelled(job, block_rows(range, begin)))
			return false;
	}
	sorted = gs_radix_partition(job, digits, items, job->spare + range.begin,
								gs_range_rows(range));
	if (sorted == NULL)
		return false;
	return sorted == items || copy_items(job, items, sorted, gs_range_rows(range));
}

static bool
sort_radix(gs_job *job, gs_range range)
{
	unsigned	high_bit;
	unsigned	low_bit;
	unsigned	bits;

	if (!find_high_bit(job, range, &high_bit))
		return false;
	if (high_bit <= job->id_bits)	/* all items tie, so they are in order */
		return true;
	bits = gs_radix_bits(gs_range_rows(range), high_bit - job->id_bits);
	if (sample_ties(job, range, high_bit - bits))
		bits = gs_radix_most_bits(gs_range_rows(range), high_bit - job->id_bits);
	low_bit = high_bit - bits;
	return sort_digits(job, range, gs_radix_digits(gs_range_rows(range), low_bit, bits)) &&
		gs_items_sort_ties(job, range, low_bit);
}

/*
 * Returns whether a few items all tie on the section.  Then they are in order, as the sort that
 * found the range was stable.
 */
static bool
all_tie(const gs_job *job, gs_range range)
{
	uint64_t	difference = 0;

	for (uint64_t i = range.begin + 1; i < range.end; i++)
		difference |= job->items[i] ^ job->items[range.begin];
	return difference >> job->id_bits == 0;
}

/* Sorts a range of items, by all of their bits.  Returns false when cancelled. */
bool
gs_items_sort(gs_job *job, gs_range range)
{
	uint64_t	count = gs_range_rows(range);

	if (count > RANK_ROWS)
		return sort_radix(job, range);
	if (all_tie(job, range))
		return !gs_job_cancelled(job, count);
	if (job->keys_only)
		rank_sort_keys(job->items + range.begin, job->spare + range.begin, count);
	else
		rank_sort(job->items + range.begin, job->spare + range.begin, count);
	return !gs_job_cancelled(job, count);
}

/*
 * Finishes a range that has been sorted on the bits from `shift` up: sorts the runs that tie on
 * these bits.  Returns false when cancelled.
 */
bool
gs_items_sort_ties(gs_job *job, gs_range range, unsigned shift)
{
	while (shift > job->id_bits && range.begin < range.end)
	{
		gs_range	ties = gs_next_ties(job, range, shift);

		if (gs_job_cancelled(job, ties.end - range.begin))
			return false;
		if (gs_range_rows(ties) > 0 && !gs_items_sort(job, ties))
			return false;
		range.begin = ties.end;
	}
	return true;
}
