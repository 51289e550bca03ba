/*
 * gs_splitters.c
 *		Cutting keys into buckets by splitters from a sample.
 *
 * Buckets that are cut by the leading bits of the key serve keys that are spread over these bits.
 * If they are not, most rows fall into few buckets, which are divided again and again; and if the
 * key's first section has few of the bits that tell rows apart, most rows tie on their items, and
 * are read once more, from anywhere in memory.  So a sample of the rows is sorted first.  If it
 * shows that much of this is to come, its quantiles become splitters, as in a sample sort: every
 * bucket gets about as many rows.
 *
 * Rows are compared with splitters by up to 64 bits of the key, which is more than fit an item
 * beside a row id.  As a bucket has only keys between two splitters, an item needs only the bits by
 * which keys differ from the bucket's least: in its bucket it stands for more bits of the key than
 * a section does, for all 64 as a rule.  That is why a few words far away from all others, whose
 * leading bits would fill an item, harm their own bucket only.
 *
 * A value of which the sample has so many that two splitters would be the same gets a bucket of its
 * own.  Rows of one value are never cut.
 *
 * A key's bucket is found by a search in a tree of splitters, without a branch that depends on the
 * key.  Several searches go on at a time, so that one waits for the caches while others compute.
 */
#include <string.h>

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "engine/host/gs_sort_private.h"

/*
 * Samples for each bucket: with 8, one bucket in a thousand has more than 2.5 times as many rows as
 * the others.
 */
#define SAMPLES_PER_BUCKET	8

/* The sample is taken from at least so many times as many rows. */
#define ROWS_PER_SAMPLE		16

/* Words are prefetched so many samples ahead of the one that is being read. */
#define PREFETCH_SAMPLES	16

/*
 * What is gained and lost in ns a row, of which only the ratios count: dividing a node's rows once
 * more; reading a row that ties with another once more; and finding a row's bucket by splitters and
 * packing its key twice.
 */
#define DIVIDE_COST			12.0
#define REFINE_COST			20.0
#define SPLIT_COST			8.0

/* So many searches go on at a time. */
#define SEARCHES			8

/* Returns how many samples of all rows stand for so many of the rows. */
static uint64_t
count_samples(const gs_shared_sort *shared, uint64_t rows)
{
	uint64_t	all = shared->nrows / ROWS_PER_SAMPLE;
	uint64_t	most = (uint64_t) SAMPLES_PER_BUCKET << shared->digit_bits;

	if (all > most)
		all = most;
	return (uint64_t) ((double) all * (double) rows / (double) shared->nrows);
}

/*
 * Reads the sample, one row at random of each of `count` stretches.  Returns whether it is in
 * order, ascending or descending.
 */
static bool
read_sample(uint64_t *sample, uint64_t count, const gs_section *section, uint64_t nrows)
{
	uint64_t	stretch = nrows / count;
	uint64_t	random = 0;
	bool		ascending = true;
	bool		descending = true;
	uint64_t	rows[PREFETCH_SAMPLES];

	for (uint64_t i = 0; i < count + PREFETCH_SAMPLES; i++)
	{
		uint64_t   *row = &rows[i % PREFETCH_SAMPLES];

		if (i >= PREFETCH_SAMPLES)
		{
			uint64_t	done = i - PREFETCH_SAMPLES;

			sample[done] = gs_pack_row(section, *row);
			ascending &= done == 0 || sample[done - 1] <= sample[done];
			descending &= done == 0 || sample[done - 1] >= sample[done];
		}
		if (i < count)
		{
			random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			*row = i * stretch + (random >> 33) % stretch;
			gs_prefetch_section(section, *row);
		}
	}
	return ascending || descending;
}

/* Sorts the sample, with as much memory behind it.  Returns false when cancelled. */
static bool
sort_sample(const gs_job *like, uint64_t *sample, uint64_t count)
{
	gs_job		job = *like;

	job.items = sample;
	job.spare = sample + count;
	job.id_bits = 0;
	job.keys_only = true;
	job.progress = NULL;
	return gs_items_sort(&job, (gs_range) {0, count});
}

/*
 * Chooses the least key of each bucket but the first: quantiles of the sorted sample, all of them
 * different.  Buckets that are not needed have the greatest key there is.
 */
static void
choose_least(uint64_t *least, uint64_t buckets, const uint64_t *sample, uint64_t count)
{
	uint64_t	used = 1;

	least[0] = 0;
	for (uint64_t i = 1; i < buckets; i++)
	{
		uint64_t	key = sample[i * count / buckets];

		if (key > least[used - 1])
			least[used++] = key;
		else if (key == least[used - 1] && key < UINT64_MAX)
			least[used++] = key + 1;
	}
	while (used < buckets)
		least[used++] = UINT64_MAX;
}

/*
 * Lays the splitters out for the search: the root comes first, at index 1, then level by level.
 * Greater keys lie to the left, so that a step to the right is a comparison's carry.
 */
static void
make_tree(uint64_t *tree, const uint64_t *least, unsigned bits)
{
	for (unsigned level = 0; level < bits; level++)
		for (uint64_t i = 0; i < UINT64_C(1) << level; i++)
		{
			uint64_t	from_left = ((2 * i + 1) << (bits - 1 - level)) - 1;

			tree[(UINT64_C(1) << level) + i] = least[(UINT64_C(1) << bits) - 1 - from_left];
		}
}

/*
 * Sets what items of a bucket, whose greatest key this is, leave out: what its keys have in common,
 * and as many low bits as do not fit.  Low bits are cut off where the key's own are, so that keys
 * whose items tie agree on all bits before.
 */
static void
set_item_bits(const gs_splitters *splitters, uint64_t bucket, uint64_t greatest,
			  unsigned item_bits)
{
	uint64_t	least = splitters->least[bucket];
	unsigned	shift = 0;

	if (least > greatest)
		least = greatest;
	while (gs_bit_width((greatest >> shift) - (least >> shift)) > item_bits)
		shift++;
	splitters->least[bucket] = least >> shift << shift;
	splitters->shifts[bucket] = (uint8_t) shift;
}

/* Finds the buckets of SEARCHES keys. */
static inline void
search(const gs_splitters *splitters, uint16_t *buckets, const uint64_t *keys)
{
	const uint64_t *tree = splitters->tree;
	const unsigned bits = splitters->bits;
	uint64_t	at[SEARCHES];

	for (unsigned i = 0; i < SEARCHES; i++)
		at[i] = 1;
	for (unsigned level = 0; level < bits; level++)
#pragma GCC unroll 8
		for (unsigned i = 0; i < SEARCHES; i++)
			at[i] = 2 * at[i] + (keys[i] < tree[at[i]]);
#pragma GCC unroll 8
	for (unsigned i = 0; i < SEARCHES; i++)
		buckets[i] = (uint16_t) ((UINT64_C(2) << bits) - 1 - at[i]);
}

void
gs_splitters_find(const gs_splitters *splitters, uint16_t *buckets, const uint64_t *keys,
				  unsigned count)
{
	unsigned	i;

	for (i = 0; i + SEARCHES <= count; i += SEARCHES)
		search(splitters, buckets + i, keys + i);
	if (i < count)
	{
		uint64_t	rest_keys[SEARCHES] = {0};
		uint16_t	rest[SEARCHES];

		memcpy(rest_keys, keys + i, (count - i) * sizeof(*keys));
		search(splitters, rest, rest_keys);
		memcpy(buckets + i, rest, (count - i) * sizeof(*buckets));
	}
}

/* Returns whether two different keys have the same item in one bucket. */
static bool
items_tie(const gs_splitters *splitters, uint64_t key, uint64_t other)
{
	const uint64_t keys[2] = {key, other};
	uint16_t	buckets[2];

	gs_splitters_find(splitters, buckets, keys, 2);
	return buckets[0] == buckets[1] &&
		gs_splitters_item(splitters, buckets[0], key) ==
		gs_splitters_item(splitters, buckets[0], other);
}

/*
 * Returns the share of rows that tie with another if so many pairs of sampled rows do: of n samples
 * of N rows, one meets n of the N rows that it may tie with.
 */
static double
tied_share(const gs_shared_sort *shared, uint64_t pairs)
{
	double		count = (double) count_samples(shared, shared->nrows);
	double		share = 2 * (double) pairs / count * ((double) shared->nrows / count);

	return share < 1 ? share : 1;
}

/*
 * Returns how many samples are divided once more, each time counted, if buckets are cut by leading
 * bits: those of samples [begin, end), which agree on all bits but the lowest `bits`.  A bucket
 * with at most so many samples is a task's, and rows of one value are not divided.
 */
static uint64_t
count_divided(const uint64_t *sample, uint64_t begin, uint64_t end, unsigned bits,
			  const gs_shared_sort *shared)
{
	const unsigned shift = bits > shared->digit_bits ? bits - shared->digit_bits : 0;
	const uint64_t most = count_samples(shared, shared->task_rows);
	uint64_t	divided = 0;
	uint64_t	bucket_end;

	for (; begin < end; begin = bucket_end)
	{
		uint64_t	difference;

		for (bucket_end = begin; bucket_end < end &&
			 sample[bucket_end] >> shift == sample[begin] >> shift; bucket_end++)
			;
		difference = sample[begin] ^ sample[bucket_end - 1];
		if (difference != 0 && bucket_end - begin > most)
			divided += bucket_end - begin +
				count_divided(sample, begin, bucket_end, gs_bit_width(difference), shared);
	}
	return divided;
}

/*
 * Returns what splitters save, in ns a row, from a sorted sample of keys.  Buckets need not be
 * divided again, and rows that tie on the first section, but not on the item that they have in
 * their bucket, are not read once more.
 */
static double
estimate_gain(const gs_splitters *splitters, const gs_shared_sort *shared, const uint64_t *sample)
{
	const uint64_t count = count_samples(shared, shared->nrows);
	const unsigned bits = splitters->key_bits;
	const unsigned section_shift = bits - gs_section_bits(bits, shared->id_bits);
	uint64_t	divided = count_divided(sample, 0, count, bits, shared);
	uint64_t	tied = 0;
	uint64_t	tied_in_buckets = 0;

	for (uint64_t i = 1; i < count; i++)
		if (sample[i] != sample[i - 1])
		{
			tied += sample[i] >> section_shift == sample[i - 1] >> section_shift;
			tied_in_buckets += items_tie(splitters, sample[i], sample[i - 1]);
		}
	return DIVIDE_COST * (double) divided / (double) count +
		REFINE_COST * (tied_share(shared, tied) - tied_share(shared, tied_in_buckets));
}

/* Chooses splitters from the sorted sample; returns whether they pay. */
static bool
choose(const gs_splitters *splitters, const gs_shared_sort *shared, const uint64_t *sample)
{
	const uint64_t buckets = UINT64_C(1) << splitters->bits;
	const uint64_t greatest = gs_low_mask(splitters->key_bits);
	uint64_t   *least = splitters->least;

	choose_least(least, buckets, sample, count_samples(shared, shared->nrows));
	make_tree(splitters->tree, least, splitters->bits);
	for (uint64_t bucket = 0; bucket < buckets; bucket++)
	{
		bool		is_last = bucket + 1 == buckets || least[bucket + 1] > greatest;

		if (shared->keys_only)
			least[bucket] = splitters->shifts[bucket] = 0;
		else
			set_item_bits(splitters, bucket, is_last ? greatest : least[bucket + 1] - 1,
						  64 - shared->id_bits);
	}
	return estimate_gain(splitters, shared, sample) > SPLIT_COST;
}

bool
gs_splitters_make(const gs_splitters *splitters, gs_participant *participant)
{
	const gs_shared_sort *shared = participant->shared;
	const gs_job *job = &participant->job;
	const uint64_t count = count_samples(shared, shared->nrows);
	uint64_t   *sample = participant->halves[1];
	gs_cursor	cursor = gs_layout_start(job->layout);
	gs_section	section;

	gs_section_build(&section, job->layout, &cursor, splitters->key_bits);
	return count > 0 && !read_sample(sample, count, &section, shared->nrows) &&
		sort_sample(job, sample, count) && choose(splitters, shared, sample);
}
