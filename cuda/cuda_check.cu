/*
 * cuda_check.cu
 *		sum_rows() and check_rows(): they prove that rows came out right.
 *
 * Sums and counts commute.  So threads fold in registers over all tiles of their block, then the
 * block's threads fold into one value, which at most four atomics add to the caller's.  Memory is
 * read once, 8 bytes a row or 8 and those of the id: a neighbour's key and id come from the cache.
 */
#include "gs_cuda_device.cuh"

#define CHECK_THREADS	256u
#define CHECK_ITEMS		8u
#define CHECK_TILE		(CHECK_THREADS * CHECK_ITEMS)
#define CHECK_WARPS		(CHECK_THREADS / GS_WARP_THREADS)
#define BLOCKS_PER_SM	6u

typedef unsigned long long atomic_word;

/* The sums and counts that threads fold. */
struct row_counts
{
	gs_row_sums sums;
	uint64_t	descents;
	uint64_t	ties;
};

static __device__ __forceinline__ row_counts
no_rows(void)
{
	row_counts	counts;

	counts.sums.ids = 0;
	counts.sums.pairs = 0;
	counts.descents = 0;
	counts.ties = 0;
	return counts;
}

static __device__ __forceinline__ row_counts
fold_warp_counts(row_counts counts)
{
	for (unsigned distance = GS_WARP_THREADS / 2; distance > 0; distance /= 2)
	{
		counts.sums.ids += __shfl_xor_sync(~0u, counts.sums.ids, distance);
		counts.sums.pairs += __shfl_xor_sync(~0u, counts.sums.pairs, distance);
		counts.descents += __shfl_xor_sync(~0u, counts.descents, distance);
		counts.ties += __shfl_xor_sync(~0u, counts.ties, distance);
	}
	return counts;
}

/* Returns the counts of the whole block to its first thread. */
static __device__ __forceinline__ row_counts
fold_block_counts(row_counts counts)
{
	__shared__ row_counts warps[CHECK_WARPS];

	counts = fold_warp_counts(counts);
	if (threadIdx.x % GS_WARP_THREADS == 0)
		warps[threadIdx.x / GS_WARP_THREADS] = counts;
	__syncthreads();
	if (threadIdx.x >= GS_WARP_THREADS)
		return counts;
	return fold_warp_counts(threadIdx.x < CHECK_WARPS ? warps[threadIdx.x] : no_rows());
}

static __device__ __forceinline__ void
add_word(uint64_t *to, uint64_t word)
{
	if (word != 0)
		atomicAdd((atomic_word *) to, (atomic_word) word);
}

template <bool HAS_KEYS>
static __global__ void __launch_bounds__(CHECK_THREADS)
sum_tiles(uint64_t first_row, uint64_t nrows, uint64_t ntiles, gs_cuda_keys keys, gs_row_sums *sums)
{
	row_counts	counts = no_rows();

	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		gs_cuda_tile tile = find_tile<CHECK_TILE>(number, nrows);
		uint64_t	first = first_row + (tile.segment << GS_SEGMENT_SHIFT) + tile.first;
		const uint64_t *words = HAS_KEYS
			? segment_memory(keys.words, tile.segment, GS_SEGMENT_ROWS) + tile.first : nullptr;

#pragma unroll
		for (unsigned i = 0; i < CHECK_ITEMS; i++)
		{
			unsigned	at = i * CHECK_THREADS + threadIdx.x;

			if (at >= tile.count)
				continue;
			if (HAS_KEYS)
				gs_sum_row(&counts.sums, key_of(keys, words[at]), first + at);
			else
				counts.sums.ids += gs_mixed_id(first + at);
		}
	}
	counts = fold_block_counts(counts);
	if (threadIdx.x > 0)
		return;
	add_word(&sums->ids, counts.sums.ids);
	add_word(&sums->pairs, counts.sums.pairs);
}

gs_status
gs_cuda_sum_rows(gs_device *base, gs_queue queue, gs_rows rows, gs_keys keys, gs_row_sums *sums)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	uint64_t	ntiles = count_tiles(rows.nrows, CHECK_TILE);
	unsigned	grid = gs_cuda_grid(device, ntiles, BLOCKS_PER_SM);
	gs_cuda_keys summed = {{nullptr, nullptr}, keys.min, keys.shift};

	if (rows.nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	if (keys.words == nullptr)
		sum_tiles<false><<<grid, CHECK_THREADS, 0, stream>>>(rows.first_row, rows.nrows, ntiles,
															 summed, sums);
	else
	{
		GS_CUDA_CHECK(gs_cuda_send_segments(device, queue, keys.words, gs_rows_segments(rows),
											&summed.words));
		sum_tiles<true><<<grid, CHECK_THREADS, 0, stream>>>(rows.first_row, rows.nrows, ntiles,
															summed, sums);
	}
	return gs_cuda_launched(device, "sum_tiles");
}

template <typename Id>
struct checked_rows
{
	const uint64_t *keys;		/* NULL: all keys are 0 */
	const Id   *ids;
	const uint64_t *key_before;
	const Id   *id_before;		/* NULL: there is no row before */
	const uint32_t *positions;	/* NULL: ids were not placed */
	const Id   *placed;
	uint64_t	nrows;
	uint64_t	nids;
};

/* Folds a row.  A first row that has none before it, and the last one, are kept in *check. */
template <typename Id>
static __device__ __forceinline__ void
fold_row(row_counts *counts, const checked_rows<Id> &rows, uint64_t row, gs_order_check *check)
{
	bool		has_last = row > 0 || rows.id_before != nullptr;
	uint64_t	key = rows.keys != nullptr ? rows.keys[row] : 0;
	uint64_t	id = rows.ids[row];
	bool		descends = id >= rows.nids;

	if (rows.positions != nullptr)
		descends |= rows.placed[rows.positions[row]] != id;
	gs_sum_row(&counts->sums, key, id);
	if (has_last)
	{
		uint64_t	last_key = 0;
		uint64_t	last_id = row > 0 ? rows.ids[row - 1] : *rows.id_before;

		if (rows.keys != nullptr)
			last_key = row > 0 ? rows.keys[row - 1] : *rows.key_before;
		descends |= key < last_key || (key == last_key && id <= last_id);
		counts->ties += key == last_key;
	}
	else
	{
		check->first_key = key;
		check->first_id = id;
	}
	counts->descents += descends;
	if (row + 1 == rows.nrows)
	{
		check->last_key = key;
		check->last_id = id;
	}
}

template <typename Id>
static __global__ void __launch_bounds__(CHECK_THREADS)
check_tiles(checked_rows<Id> rows, uint64_t ntiles, gs_order_check *check)
{
	row_counts	counts = no_rows();

	for (uint64_t number = blockIdx.x; number < ntiles; number += gridDim.x)
	{
		uint64_t	first = number * CHECK_TILE + threadIdx.x;

#pragma unroll
		for (unsigned i = 0; i < CHECK_ITEMS; i++)
			if (first + i * CHECK_THREADS < rows.nrows)
				fold_row(&counts, rows, first + i * CHECK_THREADS, check);
	}
	counts = fold_block_counts(counts);
	if (threadIdx.x > 0)
		return;
	add_word(&check->sums.ids, counts.sums.ids);
	add_word(&check->sums.pairs, counts.sums.pairs);
	add_word(&check->descents, counts.descents);
	add_word(&check->ties, counts.ties);
}

template <typename Id>
static void
launch_check(const gs_cuda_device *device, cudaStream_t stream, const gs_checked_rows *rows,
			 gs_order_check *check)
{
	uint64_t	ntiles = (rows->nrows + CHECK_TILE - 1) / CHECK_TILE;
	checked_rows<Id> checked = {
		rows->rows.keys, (const Id *) rows->rows.ids, rows->before.keys,
		(const Id *) rows->before.ids, rows->positions, (const Id *) rows->placed, rows->nrows,
		rows->nids
	};

	check_tiles<Id><<<gs_cuda_grid(device, ntiles, BLOCKS_PER_SM), CHECK_THREADS, 0, stream>>>(
		checked, ntiles, check);
}

gs_status
gs_cuda_check_rows(gs_device *base, gs_queue queue, const gs_checked_rows *rows,
				   gs_order_check *check)
{
	gs_cuda_device *device = gs_cuda(base);

	if (rows->nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	if (rows->id_bytes == sizeof(uint32_t))
		launch_check<uint32_t>(device, device->streams[queue], rows, check);
	else
		launch_check<uint64_t>(device, device->streams[queue], rows, check);
	return gs_cuda_launched(device, "check_tiles");
}
