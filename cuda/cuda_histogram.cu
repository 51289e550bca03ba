/*
 * cuda_histogram.cu
 *		histogram(): how many keys have each digit, below up to 32 prefixes.
 *
 * This is the histogram of RMG sort, section 3.1.  Blocks count in shared memory and add their
 * counts to the caller's counters at the end.  If few prefixes are counted, there are several
 * copies of the counters, each for some of the block's warps.
 *
 * For the sake of skewed keys, a thread holds back the count of one counter, that of its first key
 * in a tile, in a register, and adds it once when another counter takes its place.  Where a digit
 * is frequent most of its keys are counted that way.  Increments that collide nevertheless are
 * merged by the hardware, which has an instruction for adding one.
 *
 * The prefixes of a bucket plan are disjoint ranges of keys, so a row is counted once at most, and
 * most rows not at all: a table by the key's leading 8 bits says at once where no range is.  Ranges
 * that do overlap are counted one after the other.
 *
 * The tile counts that the interface offers to the scatter are not needed: the scatter looks back
 * to earlier tiles instead (cuda_scatter.cu).
 */
#include <algorithm>

#include "gs_cuda_device.cuh"

#define COUNT_THREADS	256u
#define COUNT_ITEMS		16u
#define COUNT_TILE		(COUNT_THREADS * COUNT_ITEMS)
#define COUNT_WARPS		(COUNT_THREADS / GS_WARP_THREADS)
#define BLOCKS_PER_SM	6u

/* Most sets of GS_DEVICE_DIGITS counters, which fit in 32 kB. */
#define MAX_COUNTERS	GS_MAX_COUNTED

/* The number of no counter. */
#define NOT_COUNTED		UINT32_MAX

/* A range of keys [low, low + span], counted by the digit at shift. */
struct counted_range
{
	uint64_t	low;
	uint64_t	span;
	unsigned	shift;
	unsigned	mask;
	unsigned	slot;			/* number of the range in the caller's counts */
};

struct counted_ranges
{
	unsigned	count;
	unsigned	copies;			/* how many copies of the counters a block has */
	counted_range ranges[GS_MAX_COUNTED];	/* the ranges, ascending and disjoint */
};

/*
 * Which ranges to look at for a key with given leading 8 bits: [begin, end).  Few leading digits
 * have any.
 */
struct lead_table
{
	unsigned	shift;			/* how far a key is shifted down to its leading bits */
	uint8_t		begin[GS_DEVICE_DIGITS];
	uint8_t		end[GS_DEVICE_DIGITS];
	counted_range ranges[GS_MAX_COUNTED];
};

/* Sets up a block's table, with one thread for each leading digit. */
static __device__ __forceinline__ void
make_lead_table(lead_table *table, const counted_ranges &counted, unsigned width)
{
	unsigned	shift = width > GS_DEVICE_DIGIT_BITS ? width - GS_DEVICE_DIGIT_BITS : 0;
	uint64_t	first_key = (uint64_t) threadIdx.x << shift;
	uint64_t	last_key = first_key + ((UINT64_C(1) << shift) - 1);
	unsigned	begin = 0;
	unsigned	end = 0;

	for (unsigned i = 0; i < counted.count; i++)
	{
		if (counted.ranges[i].low + counted.ranges[i].span < first_key)
			begin = i + 1;
		if (counted.ranges[i].low <= last_key)
			end = i + 1;
	}
	table->begin[threadIdx.x] = (uint8_t) begin;
	table->end[threadIdx.x] = (uint8_t) end;
	if (threadIdx.x < counted.count)
		table->ranges[threadIdx.x] = counted.ranges[threadIdx.x];
	if (threadIdx.x == 0)
		table->shift = shift;
}

static __device__ __forceinline__ uint32_t
digit_counter(const counted_range &range, unsigned number, uint64_t key)
{
	return number * GS_DEVICE_DIGITS + (unsigned) (key >> range.shift & range.mask);
}

/* Returns the counter of a key: range * GS_DEVICE_DIGITS + digit, or NOT_COUNTED. */
template <bool ALL_KEYS>
static __device__ __forceinline__ uint32_t
counter_of(const lead_table &table, uint64_t key)
{
	if (ALL_KEYS)
		return digit_counter(table.ranges[0], 0, key);

	unsigned	lead = (unsigned) (key >> table.shift);
	unsigned	end = table.end[lead];

	for (unsigned i = table.begin[lead]; i < end; i++)
		if (key - table.ranges[i].low <= table.ranges[i].span)
			return digit_counter(table.ranges[i], i, key);
	return NOT_COUNTED;
}

/* The count that a thread holds back. */
struct held_count
{
	uint32_t	counter;
	uint32_t	count;
};

static __device__ __forceinline__ void
release_held(held_count *held, uint32_t *counters)
{
	if (held->count > 0)
		atomicAdd(&counters[held->counter], held->count);
	held->count = 0;
}

template <bool ALL_KEYS>
static __device__ __forceinline__ void
count_tile(held_count *held, uint32_t *counters, const lead_table &table,
		   const gs_cuda_keys &keys, const uint64_t *words, unsigned count)
{
	uint64_t	items[COUNT_ITEMS];

#pragma unroll
	for (unsigned i = 0; i < COUNT_ITEMS; i++)
	{
		unsigned	at = i * COUNT_THREADS + threadIdx.x;

		items[i] = at < count ? words[at] : 0;
	}
#pragma unroll
	for (unsigned i = 0; i < COUNT_ITEMS; i++)
	{
		unsigned	at = i * COUNT_THREADS + threadIdx.x;
		uint32_t	counter = at < count ?
			counter_of<ALL_KEYS>(table, key_of(keys, items[i])) : NOT_COUNTED;

		if (i == 0 && counter != NOT_COUNTED && counter != held->counter)
		{
			release_held(held, counters);
			held->counter = counter;
		}
		if (counter == NOT_COUNTED)
			continue;
		if (counter == held->counter)
			held->count++;
		else
			atomicAdd(&counters[counter], 1);
	}
}

/* Adds the block's counters, all copies of them, to the caller's. */
static __device__ __forceinline__ void
add_counters(const counted_ranges &counted, const uint32_t *counters, unsigned ncounters,
			 uint64_t (*counts)[GS_DEVICE_DIGITS])
{
	for (unsigned i = threadIdx.x; i < ncounters; i += COUNT_THREADS)
	{
		uint32_t	sum = 0;

		for (unsigned copy = 0; copy < counted.copies; copy++)
			sum += counters[copy * ncounters + i];
		if (sum > 0)
			atomicAdd((unsigned long long *)
					  &counts[counted.ranges[i / GS_DEVICE_DIGITS].slot][i % GS_DEVICE_DIGITS],
					  (unsigned long long) sum);
	}
}

template <bool ALL_KEYS>
static __global__ void __launch_bounds__(COUNT_THREADS)
count_rows(uint64_t nrows, uint64_t ntiles, gs_cuda_keys keys, unsigned width,
		   const __grid_constant__ counted_ranges counted, uint64_t (*counts)[GS_DEVICE_DIGITS])
{
	extern __shared__ uint32_t all_counters[];
	__shared__ lead_table table;
	unsigned	ncounters = counted.count * GS_DEVICE_DIGITS;
	unsigned	copy = threadIdx.x / GS_WARP_THREADS % counted.copies;
	uint32_t   *counters = all_counters + copy * ncounters;
	held_count	held = {NOT_COUNTED, 0};

	for (unsigned i = threadIdx.x; i < counted.copies * ncounters; i += COUNT_THREADS)
		all_counters[i] = 0;
	make_lead_table(&table, counted, width);
	__syncthreads();

	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		gs_cuda_tile tile = find_tile<COUNT_TILE>(number, nrows);

		count_tile<ALL_KEYS>(&held, counters, table, keys,
							 segment_memory(keys.words, tile.segment, GS_SEGMENT_ROWS) +
								 tile.first, tile.count);
	}
	release_held(&held, counters);
	__syncthreads();
	add_counters(counted, all_counters, ncounters, counts);
}

static counted_range
make_range(const gs_counted *counted, unsigned width, unsigned slot)
{
	unsigned	below = counted->digit_shift + counted->digit_bits;
	counted_range range;

	range.low = below < width ? counted->prefix << below : 0;
	range.span = below < width ? (UINT64_C(1) << below) - 1 : UINT64_MAX;
	range.shift = counted->digit_shift;
	range.mask = (1u << counted->digit_bits) - 1;
	range.slot = slot;
	return range;
}

static void
make_ranges(counted_ranges *ranges, const gs_counted *counted, unsigned ncounted, unsigned width,
			unsigned first)
{
	ranges->count = ncounted;
	ranges->copies = std::min(COUNT_WARPS, MAX_COUNTERS / ncounted);
	for (unsigned i = 0; i < ncounted; i++)
		ranges->ranges[i] = make_range(&counted[i], width, first + i);
	std::sort(ranges->ranges, ranges->ranges + ncounted,
			  [](const counted_range &a, const counted_range &b) { return a.low < b.low; });
}

static bool
ranges_are_disjoint(const counted_ranges *ranges)
{
	for (unsigned i = 1; i < ranges->count; i++)
		if (ranges->ranges[i].low - ranges->ranges[i - 1].low <= ranges->ranges[i - 1].span)
			return false;
	return true;
}

static gs_status
count_ranges(gs_cuda_device *device, gs_queue queue, gs_rows rows, const gs_cuda_keys &keys,
			 unsigned width, const counted_ranges &ranges, uint64_t (*counts)[GS_DEVICE_DIGITS])
{
	uint64_t	ntiles = count_tiles(rows.nrows, COUNT_TILE);
	size_t		shared_bytes = ranges.copies * ranges.count * GS_DEVICE_DIGITS * sizeof(uint32_t);

	const counted_range *first = &ranges.ranges[0];
	bool		all_keys = ranges.count == 1 && first->low == 0 &&
		first->span >= (width < 64 ? (UINT64_C(1) << width) - 1 : UINT64_MAX);
	auto		kernel = all_keys ? count_rows<true> : count_rows<false>;

	kernel<<<gs_cuda_grid(device, ntiles, BLOCKS_PER_SM), COUNT_THREADS, shared_bytes,
		device->streams[queue]>>>(rows.nrows, ntiles, keys, width, ranges, counts);
	return gs_cuda_launched(device, "count_rows");
}

gs_status
gs_cuda_histogram(gs_device *base, gs_queue queue, gs_rows rows, gs_keys keys, unsigned ncounted,
				  const gs_counted *counted, uint64_t (*counts)[GS_DEVICE_DIGITS],
				  void *tile_counts)
{
	gs_cuda_device *device = gs_cuda(base);
	gs_cuda_keys sent = {{}, keys.min, keys.shift};
	counted_ranges ranges;

	(void) tile_counts;
	if (rows.nrows == 0 || ncounted == 0)
		return GS_OK;
	if (ncounted > GS_MAX_COUNTED)
		return gs_cuda_refused(device, GS_INVALID, "too many prefixes to count");
	GS_CUDA_ENTER(device);
	GS_CUDA_CHECK(gs_cuda_send_segments(device, queue, keys.words, gs_rows_segments(rows),
										&sent.words));
	make_ranges(&ranges, counted, ncounted, keys.width, 0);
	if (ranges_are_disjoint(&ranges))
		return count_ranges(device, queue, rows, sent, keys.width, ranges, counts);
	for (unsigned i = 0; i < ncounted; i++)
	{
		make_ranges(&ranges, &counted[i], 1, keys.width, i);
		GS_CUDA_CHECK(count_ranges(device, queue, rows, sent, keys.width, ranges, counts));
	}
	return GS_OK;
}

/* The memory is not used, but an allocation of 0 bytes would look like a failed one. */
size_t
gs_cuda_tile_counts_bytes(gs_device *base, gs_rows rows)
{
	(void) base;
	(void) rows;
	return GS_ARENA_ALIGNMENT;
}
