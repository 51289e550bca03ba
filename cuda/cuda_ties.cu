/*
 * cuda_ties.cu
 *		Equal neighbours: marking them, finding them, fetching the next bits of their keys, and
 *		putting their row ids back.
 *
 * find_ties() ranks the tied rows by a running sum over all rows.  A rank is one word.  Its lower
 * half counts the rows that tie, up to and including this one, and its upper half their runs.  A
 * row at which the lower half grows is tied, and both halves less one are its place among the tied
 * rows and the number of its run.
 *
 * take_ties() reads the planes in host memory, a word a row at random places: that is some 64 bytes
 * of the link's traffic for each row.
 */
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "gs_cuda_device.cuh"

#define TIES_THREADS	256u
#define BLOCKS_PER_SM	8u

/* Returns what a row of a sorted array adds to the running sum. */
struct tie_of
{
	const uint64_t *keys;
	uint64_t	nrows;

	__host__ __device__ uint64_t
	operator()(uint64_t row) const
	{
		uint64_t	key = keys[row];
		bool		as_before = row > 0 && keys[row - 1] == key;
		bool		as_next = row + 1 < nrows && keys[row + 1] == key;

		if (as_before)
			return 1;
		return as_next ? (UINT64_C(1) << 32) + 1 : 0;
	}
};

/*
 * Marks rows.  A warp looks at 32 bits of the bitmap at a time, that is, at the rows of one of its
 * words.
 */
static __global__ void __launch_bounds__(TIES_THREADS)
mark_rows(const uint64_t *keys, uint64_t nrows, bool tied, unsigned first_bit, uint32_t *bitmap)
{
	uint64_t	nbits = (nrows + first_bit + GS_WARP_THREADS - 1) / GS_WARP_THREADS *
		GS_WARP_THREADS;

	for (uint64_t bit = (uint64_t) blockIdx.x * TIES_THREADS + threadIdx.x; bit < nbits;
		 bit += (uint64_t) gridDim.x * TIES_THREADS)
	{
		uint64_t	row = bit - first_bit;
		bool		equal = false;
		unsigned	marks;

		if (bit >= first_bit && row < nrows)
			equal = row == 0 ? tied : keys[row] == keys[row - 1];
		marks = __ballot_sync(~0u, equal);
		if (marks != 0 && bit % GS_WARP_THREADS == 0)
			atomicOr(&bitmap[bit / GS_WARP_THREADS], marks);
	}
}

static __global__ void __launch_bounds__(TIES_THREADS)
mark_placed_rows(const uint64_t *keys, const uint32_t *positions, uint64_t nrows, bool tied,
				 unsigned first_bit, uint32_t *bitmap)
{
	for (uint64_t row = (uint64_t) blockIdx.x * TIES_THREADS + threadIdx.x; row < nrows;
		 row += (uint64_t) gridDim.x * TIES_THREADS)
	{
		uint64_t	bit = (uint64_t) first_bit + positions[row];

		if (row == 0 ? tied : keys[row] == keys[row - 1])
			atomicOr(&bitmap[bit / 32], 1u << (bit % 32));
	}
}

static unsigned
ties_grid(const gs_cuda_device *device, uint64_t nrows)
{
	return gs_cuda_grid(device, (nrows + TIES_THREADS - 1) / TIES_THREADS, BLOCKS_PER_SM);
}

gs_status
gs_cuda_mark_equal(gs_device *base, gs_queue queue, const uint64_t *keys, const uint32_t *positions,
				   uint64_t nrows, bool tied, unsigned first_bit, uint32_t *bitmap)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	unsigned	whole_words = first_bit / 32;

	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	bitmap += whole_words;
	first_bit -= whole_words * 32;
	if (positions == nullptr)
		mark_rows<<<ties_grid(device, nrows + first_bit), TIES_THREADS, 0, stream>>>(
			keys, nrows, tied, first_bit, bitmap);
	else
		mark_placed_rows<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>(
			keys, positions, nrows, tied, first_bit, bitmap);
	return gs_cuda_launched(device, "mark_equal");
}

static cudaError_t
rank_ties(void *temp, size_t *temp_bytes, const uint64_t *keys, uint64_t nrows, uint64_t *ranks,
		  cudaStream_t stream)
{
	auto		ties = thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0),
													   tie_of{keys, nrows});

	return cub::DeviceScan::InclusiveSum(temp, *temp_bytes, ties, ranks, nrows, stream);
}

size_t
gs_cuda_ties_temp_bytes(gs_device *base, uint64_t nrows)
{
	gs_cuda_device *device = gs_cuda(base);
	size_t		temp_bytes = 0;
	cudaError_t error;

	if (gs_cuda_enter(device) != GS_OK)
		return SIZE_MAX;
	error = rank_ties(nullptr, &temp_bytes, nullptr, nrows, nullptr, nullptr);
	if (error != cudaSuccess)
	{
		(void) gs_cuda_failed(device, error, "cub::DeviceScan::InclusiveSum");
		return SIZE_MAX;
	}
	return temp_bytes;
}

gs_status
gs_cuda_find_ties(gs_device *base, gs_queue queue, const uint64_t *keys, uint64_t nrows,
				  uint64_t *ranks, void *temp, gs_tie_counts *counts)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	size_t		temp_bytes;

	counts->rows = counts->runs = 0;
	if (nrows == 0)
		return GS_OK;
	if (nrows > UINT32_MAX)
		return gs_cuda_refused(device, GS_INVALID, "too many rows to look for ties in");
	GS_CUDA_ENTER(device);
	temp_bytes = gs_cuda_ties_temp_bytes(base, nrows);
	GS_CUDA_TRY(device, rank_ties(temp, &temp_bytes, keys, nrows, ranks, stream));
	GS_CUDA_TRY(device, cudaMemcpyAsync(device->answer, &ranks[nrows - 1], sizeof(*ranks),
										cudaMemcpyDeviceToHost, stream));
	GS_CUDA_TRY(device, cudaStreamSynchronize(stream));
	counts->rows = (uint32_t) *device->answer;
	counts->runs = *device->answer >> 32;
	return GS_OK;
}

static __device__ __forceinline__ uint64_t
section_of_row(const gs_cuda_section &section, uint64_t row)
{
	uint64_t	segment = row >> GS_SEGMENT_SHIFT;
	unsigned	row_in_segment = (unsigned) (row & (GS_SEGMENT_ROWS - 1));
	uint64_t	key = 0;

	for (unsigned p = 0; p < section.npieces; p++)
	{
		const gs_cuda_piece &piece = section.pieces[p];
		const uint64_t *words = segment_memory(piece.words, segment, GS_SEGMENT_ROWS);
		const uint64_t *nulls = segment_memory(piece.nulls, segment, GS_SEGMENT_NULL_WORDS);

		key = (piece.width == 64 ? 0 : key << piece.width) |
			piece_bits(piece, words, nulls, row_in_segment);
	}
	return key;
}

template <typename Id>
static __global__ void __launch_bounds__(TIES_THREADS)
take_rows(const Id *ids, const uint32_t *positions, const uint64_t *ranks, uint64_t nrows,
		  gs_cuda_section section, uint32_t *to_positions, uint64_t *to_keys, Id *to_ids)
{
	for (uint64_t i = (uint64_t) blockIdx.x * TIES_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * TIES_THREADS)
	{
		uint64_t	rank = ranks[i];
		uint64_t	before = i > 0 ? ranks[i - 1] : 0;
		uint64_t	run = (rank >> 32) - 1;
		uint32_t	place = (uint32_t) rank - 1;

		if ((uint32_t) rank == (uint32_t) before)
			continue;
		to_positions[place] = positions != nullptr ? positions[i] : (uint32_t) i;
		to_ids[place] = ids[i];
		to_keys[place] = (section.width == 64 ? 0 : run << section.width) |
			section_of_row(section, (uint64_t) ids[i]);
	}
}

gs_status
gs_cuda_take_ties(gs_device *base, gs_queue queue, gs_pairs from, const uint32_t *positions,
				  const uint64_t *ranks, uint64_t nrows, unsigned id_bytes,
				  const gs_section *section, const gs_plane_rows *planes, uint64_t job_segments,
				  uint32_t *to_positions, gs_pairs to)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	gs_cuda_staging staging;
	gs_cuda_section staged;

	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	GS_CUDA_CHECK(gs_cuda_reserve(device, queue,
								  gs_cuda_section_bytes(section, planes, job_segments), &staging));
	staged = gs_cuda_stage_section(&staging, section, planes, job_segments);
	GS_CUDA_CHECK(gs_cuda_send(device, queue, &staging));
	if (id_bytes == sizeof(uint32_t))
		take_rows<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>(
			(const uint32_t *) from.ids, positions, ranks, nrows, staged, to_positions, to.keys,
			(uint32_t *) to.ids);
	else
		take_rows<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>(
			(const uint64_t *) from.ids, positions, ranks, nrows, staged, to_positions, to.keys,
			(uint64_t *) to.ids);
	return gs_cuda_launched(device, "take_rows");
}

/* ---------- row ids: at their places, and ascending ones ---------- */

template <typename Id>
static __global__ void __launch_bounds__(TIES_THREADS)
place_ids(Id *ids, const uint32_t *positions, const Id *from_ids, uint64_t nrows)
{
	for (uint64_t i = (uint64_t) blockIdx.x * TIES_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * TIES_THREADS)
		ids[positions[i]] = from_ids[i];
}

template <typename Id>
static __global__ void __launch_bounds__(TIES_THREADS)
number_ids(Id *ids, uint64_t first, uint64_t nrows)
{
	for (uint64_t i = (uint64_t) blockIdx.x * TIES_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * TIES_THREADS)
		ids[i] = (Id) (first + i);
}

gs_status
gs_cuda_put_ids(gs_device *base, gs_queue queue, void *ids, const uint32_t *positions,
				const void *from_ids, unsigned id_bytes, uint64_t nrows)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];

	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	if (id_bytes == sizeof(uint32_t))
		place_ids<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>(
			(uint32_t *) ids, positions, (const uint32_t *) from_ids, nrows);
	else
		place_ids<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>(
			(uint64_t *) ids, positions, (const uint64_t *) from_ids, nrows);
	return gs_cuda_launched(device, "place_ids");
}

gs_status
gs_cuda_count_up(gs_device *base, gs_queue queue, void *ids, unsigned id_bytes, uint64_t first,
				 uint64_t nrows)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];

	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	if (id_bytes == sizeof(uint32_t))
		number_ids<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>((uint32_t *) ids, first,
																		 nrows);
	else
		number_ids<<<ties_grid(device, nrows), TIES_THREADS, 0, stream>>>((uint64_t *) ids, first,
																		 nrows);
	return gs_cuda_launched(device, "number_ids");
}
