/*
 * cuda_stats.cu
 *		plane_stats(): minimum, maximum, AND, OR and number of nulls, and alphabets.
 *
 * Threads fold in registers over all tiles of their block, then the block's threads fold into one
 * value, which five atomics add to the caller's.  The folds commute, so the result does not depend
 * on the order of blocks.
 *
 * Alphabets of bytes are collected in shared memory, 256 bits for each position.  These are eight
 * words in eight banks, so that a warp reads what it knows of a position without conflicts.  After
 * the first tiles there is hardly a byte that is new, and nothing is written.
 */
#include "gs_cuda_device.cuh"

#define STATS_THREADS	256u
#define STATS_ITEMS		16u
#define STATS_TILE		(STATS_THREADS * STATS_ITEMS)
#define STATS_WARPS		(STATS_THREADS / GS_WARP_THREADS)
#define BLOCKS_PER_SM	8u

/* How many words of 32 bits an alphabet has, in which its bits are set. */
#define ALPHABET_WORDS	(GS_BYTE_VALUES / 32u)

typedef unsigned long long atomic_word;

static __device__ __forceinline__ gs_plane_stats
no_stats(void)
{
	gs_plane_stats stats;

	stats.min = UINT64_MAX;
	stats.max = 0;
	stats.all_and = UINT64_MAX;
	stats.all_or = 0;
	stats.nulls = 0;
	return stats;
}

static __device__ __forceinline__ void
fold_word(gs_plane_stats *stats, uint64_t word)
{
	stats->min = min(stats->min, word);
	stats->max = max(stats->max, word);
	stats->all_and &= word;
	stats->all_or |= word;
}

static __device__ __forceinline__ void
fold_stats(gs_plane_stats *stats, const gs_plane_stats &other)
{
	stats->min = min(stats->min, other.min);
	stats->max = max(stats->max, other.max);
	stats->all_and &= other.all_and;
	stats->all_or |= other.all_or;
	stats->nulls += other.nulls;
}

static __device__ __forceinline__ gs_plane_stats
fold_warp(gs_plane_stats stats)
{
	for (unsigned distance = GS_WARP_THREADS / 2; distance > 0; distance /= 2)
	{
		gs_plane_stats other;

		other.min = __shfl_xor_sync(~0u, stats.min, distance);
		other.max = __shfl_xor_sync(~0u, stats.max, distance);
		other.all_and = __shfl_xor_sync(~0u, stats.all_and, distance);
		other.all_or = __shfl_xor_sync(~0u, stats.all_or, distance);
		other.nulls = __shfl_xor_sync(~0u, stats.nulls, distance);
		fold_stats(&stats, other);
	}
	return stats;
}

static __device__ __forceinline__ void
add_stats(gs_plane_stats *to, const gs_plane_stats &stats)
{
	atomicMin((atomic_word *) &to->min, (atomic_word) stats.min);
	atomicMax((atomic_word *) &to->max, (atomic_word) stats.max);
	atomicAnd((atomic_word *) &to->all_and, (atomic_word) stats.all_and);
	atomicOr((atomic_word *) &to->all_or, (atomic_word) stats.all_or);
	if (stats.nulls > 0)
		atomicAdd((atomic_word *) &to->nulls, (atomic_word) stats.nulls);
}

/* Returns a bit for each position of the word whose byte is not known yet. */
static __device__ __forceinline__ unsigned
new_bytes(const unsigned *seen, uint64_t word)
{
	unsigned	positions = 0;

#pragma unroll
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
	{
		unsigned	byte = gs_byte_at(word, p);

		positions |= (~seen[p * ALPHABET_WORDS + byte / 32] >> byte % 32 & 1) << p;
	}
	return positions;
}

static __device__ __forceinline__ void
see_bytes(unsigned *seen, uint64_t word)
{
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
	{
		unsigned	byte = gs_byte_at(word, p);

		atomicOr(&seen[p * ALPHABET_WORDS + byte / 32], 1u << byte % 32);
	}
}

/*
 * Adds the bytes of those of a thread's words that `valid` says.  All threads of a block call it;
 * none writes while others read.
 */
static __device__ __forceinline__ void
see_words(unsigned *seen, const uint64_t *values, unsigned valid)
{
	unsigned	unknown = 0;

#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
		if ((valid >> i & 1) != 0 && new_bytes(seen, values[i]) != 0)
			unknown |= 1u << i;
	if (!__syncthreads_or(unknown != 0))
		return;
#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
		if ((unknown >> i & 1) != 0)
			see_bytes(seen, values[i]);
	__syncthreads();
}

static __device__ __forceinline__ void
fold_tile(gs_plane_stats *stats, uint64_t *values, const uint64_t *words, unsigned first,
		  unsigned count)
{
#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
	{
		unsigned	at = i * STATS_THREADS + threadIdx.x;

		values[i] = words[first + (at < count ? at : 0)];
	}
#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
		fold_word(stats, values[i]);
}

/* Returns which of the values are words of rows that are not null. */
static __device__ __forceinline__ unsigned
fold_nullable_tile(gs_plane_stats *stats, uint64_t *values, const uint64_t *words,
				   const uint64_t *nulls, unsigned first, unsigned count)
{
	unsigned	valid = 0;

#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
	{
		unsigned	row = first + i * STATS_THREADS + threadIdx.x;

		values[i] = 0;
		if (row >= first + count)
			continue;
		if (row_is_null(nulls, row))
		{
			stats->nulls++;
			continue;
		}
		values[i] = words[row];
		fold_word(stats, values[i]);
		valid |= 1u << i;
	}
	return valid;
}

template <bool WITH_BYTES>
static __global__ void __launch_bounds__(STATS_THREADS)
fold_rows(uint64_t nrows, uint64_t ntiles, gs_cuda_segments words, gs_cuda_segments nulls,
		  bool nullable, gs_plane_stats *to, gs_alphabets *alphabets)
{
	__shared__ gs_plane_stats warps[STATS_WARPS];
	__shared__ unsigned seen[GS_WORD_BYTES * ALPHABET_WORDS];
	gs_plane_stats stats = no_stats();

	if (WITH_BYTES)
	{
		if (threadIdx.x < GS_WORD_BYTES * ALPHABET_WORDS)
			seen[threadIdx.x] = 0;
		__syncthreads();
	}

	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		gs_cuda_tile tile = find_tile<STATS_TILE>(number, nrows);
		const uint64_t *tile_words = segment_memory(words, tile.segment, GS_SEGMENT_ROWS);
		uint64_t	values[STATS_ITEMS];
		unsigned	valid = ~0u;

		if (!nullable)
			fold_tile(&stats, values, tile_words, tile.first, tile.count);
		else
			valid = fold_nullable_tile(&stats, values, tile_words,
									   segment_memory(nulls, tile.segment, GS_SEGMENT_NULL_WORDS),
									   tile.first, tile.count);
		if (WITH_BYTES)
			see_words(seen, values, valid);
	}
	if (WITH_BYTES && threadIdx.x < GS_WORD_BYTES * ALPHABET_WORDS && seen[threadIdx.x] != 0)
		atomicOr((unsigned *) alphabets->seen + threadIdx.x, seen[threadIdx.x]);
	stats = fold_warp(stats);
	if (threadIdx.x % GS_WARP_THREADS == 0)
		warps[threadIdx.x / GS_WARP_THREADS] = stats;
	__syncthreads();
	if (threadIdx.x >= GS_WARP_THREADS)
		return;
	stats = fold_warp(threadIdx.x < STATS_WARPS ? warps[threadIdx.x] : no_stats());
	if (threadIdx.x == 0)
		add_stats(to, stats);
}

gs_status
gs_cuda_plane_stats(gs_device *base, gs_queue queue, gs_rows rows, gs_plane_rows plane,
					gs_plane_stats *stats, gs_alphabets *alphabets)
{
	gs_cuda_device *device = gs_cuda(base);
	uint64_t	nsegments = gs_rows_segments(rows);
	uint64_t	ntiles = count_tiles(rows.nrows, STATS_TILE);
	gs_cuda_staging staging;
	gs_cuda_segments words;
	gs_cuda_segments nulls;
	size_t		bytes;
	unsigned	grid = gs_cuda_grid(device, ntiles, BLOCKS_PER_SM);
	cudaStream_t stream = device->streams[queue];
	bool		nullable = plane.nulls != nullptr;

	if (rows.nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	bytes = gs_cuda_segments_bytes(plane.words, nsegments, GS_SEGMENT_ROWS) +
		gs_cuda_segments_bytes(plane.nulls, nsegments, GS_SEGMENT_NULL_WORDS);
	GS_CUDA_CHECK(gs_cuda_reserve(device, queue, bytes, &staging));
	words = gs_cuda_stage_segments(&staging, plane.words, nsegments, GS_SEGMENT_ROWS);
	nulls = gs_cuda_stage_segments(&staging, plane.nulls, nsegments, GS_SEGMENT_NULL_WORDS);
	GS_CUDA_CHECK(gs_cuda_send(device, queue, &staging));
	if (alphabets != nullptr)
		fold_rows<true><<<grid, STATS_THREADS, 0, stream>>>(rows.nrows, ntiles, words, nulls,
															 nullable, stats, alphabets);
	else
		fold_rows<false><<<grid, STATS_THREADS, 0, stream>>>(rows.nrows, ntiles, words, nulls,
															  nullable, stats, nullptr);
	return gs_cuda_launched(device, "fold_rows");
}
