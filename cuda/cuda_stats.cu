/*
 * cuda_stats.cu
 *		plane_stats(): minimum, maximum, AND, OR and number of nulls.
 *
 * Threads fold in registers over all tiles of their block, then the block's
 * threads fold into one value, which five atomics add to the caller's.  The folds
 * commute, so the result does not depend on the order of blocks.
 */
#include "gs_cuda_rows.cuh"

#define STATS_THREADS	256u
#define STATS_ITEMS		16u
#define STATS_TILE		(STATS_THREADS * STATS_ITEMS)
#define STATS_WARPS		(STATS_THREADS / GS_WARP_THREADS)
#define BLOCKS_PER_SM	8u

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

static __device__ __forceinline__ void
fold_tile(gs_plane_stats *stats, const uint64_t *words, unsigned first, unsigned count)
{
	uint64_t	values[STATS_ITEMS];

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

static __device__ __forceinline__ void
fold_nullable_tile(gs_plane_stats *stats, const uint64_t *words, const uint64_t *nulls,
				   unsigned first, unsigned count)
{
#pragma unroll
	for (unsigned i = 0; i < STATS_ITEMS; i++)
	{
		unsigned	row = first + i * STATS_THREADS + threadIdx.x;

		if (row >= first + count)
			break;
		if (row_is_null(nulls, row))
			stats->nulls++;
		else
			fold_word(stats, words[row]);
	}
}

static __global__ void __launch_bounds__(STATS_THREADS)
fold_rows(uint64_t nrows, uint64_t ntiles, gs_cuda_segments words, gs_cuda_segments nulls,
		  bool nullable, gs_plane_stats *to)
{
	__shared__ gs_plane_stats warps[STATS_WARPS];
	gs_plane_stats stats = no_stats();

	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		gs_cuda_tile tile = find_tile<STATS_TILE>(number, nrows);
		const uint64_t *tile_words = segment_memory(words, tile.segment, GS_SEGMENT_ROWS);

		if (!nullable)
			fold_tile(&stats, tile_words, tile.first, tile.count);
		else
			fold_nullable_tile(&stats, tile_words,
							   segment_memory(nulls, tile.segment, GS_SEGMENT_NULL_WORDS),
							   tile.first, tile.count);
	}
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

static gs_status
plane_stats(gs_device *base, gs_queue queue, gs_rows rows, gs_plane_rows plane,
			gs_plane_stats *stats)
{
	gs_cuda_device *device = gs_cuda(base);
	uint64_t	nsegments = gs_rows_segments(rows);
	uint64_t	ntiles = count_tiles(rows.nrows, STATS_TILE);
	gs_cuda_staging staging;
	gs_cuda_segments words;
	gs_cuda_segments nulls;
	size_t		bytes;

	if (rows.nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	bytes = gs_cuda_segments_bytes(plane.words, nsegments, GS_SEGMENT_ROWS) +
		gs_cuda_segments_bytes(plane.nulls, nsegments, GS_SEGMENT_NULL_WORDS);
	GS_CUDA_CHECK(gs_cuda_reserve(device, queue, bytes, &staging));
	words = gs_cuda_stage_segments(&staging, plane.words, nsegments, GS_SEGMENT_ROWS);
	nulls = gs_cuda_stage_segments(&staging, plane.nulls, nsegments, GS_SEGMENT_NULL_WORDS);
	GS_CUDA_CHECK(gs_cuda_send(device, queue, &staging));
	fold_rows<<<gs_cuda_grid(device, ntiles, BLOCKS_PER_SM), STATS_THREADS, 0,
		device->streams[queue]>>>(rows.nrows, ntiles, words, nulls, plane.nulls != nullptr, stats);
	return gs_cuda_launched(device, "fold_rows");
}

void
gs_cuda_add_stats_ops(gs_device_ops *ops)
{
	ops->plane_stats = plane_stats;
}
