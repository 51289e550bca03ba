/*
 * cuda_rows.cu
 *		place_rows() and gather_rows(): they bring stored rows into another order.
 *
 * Rows are read at random places, each of them in one piece, and written end to end.  Device memory
 * is some sixty times as fast as the link over which the result leaves, so the kernels are simple:
 * a thread copies one word of a row, and neighbouring threads copy neighbouring words.
 */
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "gs_cuda_device.cuh"

#define ROWS_THREADS	256u
#define BLOCKS_PER_SM	8u

/* So many threads copy one row with a length of its own: 64 bytes at a time. */
#define ROW_LANES		8u

#define WORD_BYTES		sizeof(uint64_t)
#define SLAB_WORDS		(GS_SLAB_BYTES / WORD_BYTES)

/* What kernels need of a gs_stored_rows. */
struct stored_rows
{
	gs_cuda_segments slabs;
	uint64_t	words;			/* words of all rows */
	uint64_t	nrows;
	const uint32_t *refs;
	unsigned	unit_words;
	gs_row_length length;
};

static __device__ __forceinline__ const uint64_t *
stored_word(const stored_rows &rows, uint64_t word)
{
	return segment_memory(rows.slabs, word / SLAB_WORDS, SLAB_WORDS) + word % SLAB_WORDS;
}

/* Returns how many units the i-th row to be gathered takes. */
struct units_of
{
	stored_rows rows;
	const uint32_t *ids;

	__device__ uint64_t
	operator()(uint64_t i) const
	{
		uint32_t	id = ids[i];
		uint64_t	first;
		uint64_t	bytes;
		uint64_t	unit = rows.unit_words * WORD_BYTES;

		if (id >= rows.nrows)
			return 0;
		first = (uint64_t) rows.refs[id] * rows.unit_words;
		if (first >= rows.words)
			return 0;
		bytes = *stored_word(rows, first) >> rows.length.shift & rows.length.mask;
		return (min(bytes, (rows.words - first) * WORD_BYTES) + unit - 1) / unit;
	}
};

static __global__ void __launch_bounds__(ROWS_THREADS)
gather_equal_rows(stored_rows from, const uint32_t *ids, uint64_t nrows, unsigned row_words,
				  uint64_t *to)
{
	uint64_t	nwords = nrows * row_words;

	for (uint64_t i = (uint64_t) blockIdx.x * ROWS_THREADS + threadIdx.x; i < nwords;
		 i += (uint64_t) gridDim.x * ROWS_THREADS)
	{
		uint64_t	row = i / row_words;
		uint32_t	id = ids[row];
		uint64_t	word = (uint64_t) (id < from.nrows ? id : 0) * row_words +
			(i - row * row_words);

		if (word < from.words)
			to[i] = *stored_word(from, word);
	}
}

static __global__ void __launch_bounds__(ROWS_THREADS)
gather_placed_rows(stored_rows from, const uint32_t *ids, uint64_t nrows, const uint64_t *ends,
				   uint32_t first_ref, uint32_t *refs, uint64_t *to)
{
	unsigned	lane = threadIdx.x % ROW_LANES;

	for (uint64_t i = ((uint64_t) blockIdx.x * ROWS_THREADS + threadIdx.x) / ROW_LANES; i < nrows;
		 i += (uint64_t) gridDim.x * (ROWS_THREADS / ROW_LANES))
	{
		uint64_t	begin = i > 0 ? ends[i - 1] : 0;
		uint64_t	words = (ends[i] - begin) * from.unit_words;
		uint32_t	id = ids[i];
		uint64_t	first = (uint64_t) from.refs[id < from.nrows ? id : 0] * from.unit_words;
		uint64_t	there = first < from.words ? from.words - first : 0;

		if (lane == 0)
			refs[i] = first_ref + (uint32_t) begin;
		words = min(words, there);
		for (uint64_t word = lane; word < words; word += ROW_LANES)
			to[begin * from.unit_words + word] = *stored_word(from, first + word);
	}
}

/* Sends the table of slabs, and describes the rows to a kernel. */
static gs_status
send_rows(gs_cuda_device *device, gs_queue queue, const gs_stored_rows *rows, stored_rows *sent)
{
	uint64_t	nslabs = (rows->bytes + GS_SLAB_BYTES - 1) / GS_SLAB_BYTES;
	gs_cuda_staging staging;

	GS_CUDA_CHECK(gs_cuda_reserve(device, queue,
								  gs_cuda_segments_bytes(rows->slabs, nslabs, SLAB_WORDS),
								  &staging));
	*sent = {};
	sent->slabs = gs_cuda_stage_segments(&staging, rows->slabs, nslabs, SLAB_WORDS);
	sent->words = rows->bytes / WORD_BYTES;
	sent->nrows = rows->nrows;
	sent->refs = rows->refs;
	sent->unit_words = rows->unit / (unsigned) WORD_BYTES;
	sent->length = rows->length;
	return gs_cuda_send(device, queue, &staging);
}

static cudaError_t
sum_units(void *temp, size_t *temp_bytes, const stored_rows &rows, const uint32_t *ids,
		  uint64_t nrows, uint64_t *ends, cudaStream_t stream)
{
	auto		units = thrust::make_transform_iterator(thrust::counting_iterator<uint64_t>(0),
													   units_of{rows, ids});

	return cub::DeviceScan::InclusiveSum(temp, *temp_bytes, units, ends, nrows, stream);
}

size_t
gs_cuda_place_temp_bytes(gs_device *base, uint64_t nrows)
{
	gs_cuda_device *device = gs_cuda(base);
	size_t		temp_bytes = 0;
	cudaError_t error;

	if (gs_cuda_enter(device) != GS_OK)
		return SIZE_MAX;
	error = sum_units(nullptr, &temp_bytes, {}, nullptr, nrows, nullptr, nullptr);
	if (error != cudaSuccess)
	{
		(void) gs_cuda_failed(device, error, "cub::DeviceScan::InclusiveSum");
		return SIZE_MAX;
	}
	return temp_bytes;
}

gs_status
gs_cuda_place_rows(gs_device *base, gs_queue queue, const gs_gather *gather, uint64_t *units)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	uint64_t	nrows = gather->nrows;
	stored_rows rows;
	size_t		temp_bytes;

	*units = 0;
	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	GS_CUDA_CHECK(send_rows(device, queue, &gather->from, &rows));
	temp_bytes = gs_cuda_place_temp_bytes(base, nrows);
	GS_CUDA_TRY(device, sum_units(gather->temp, &temp_bytes, rows, gather->ids, nrows,
								  gather->ends, stream));
	GS_CUDA_TRY(device, cudaMemcpyAsync(device->answer, &gather->ends[nrows - 1], sizeof(*units),
										cudaMemcpyDeviceToHost, stream));
	GS_CUDA_TRY(device, cudaStreamSynchronize(stream));
	*units = *device->answer;
	return GS_OK;
}

gs_status
gs_cuda_gather_rows(gs_device *base, gs_queue queue, const gs_gather *gather)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	uint64_t	nrows = gather->nrows;
	unsigned	row_words = (unsigned) (gather->from.stride / WORD_BYTES);
	uint64_t	threads = nrows * (row_words > 0 ? row_words : ROW_LANES);
	unsigned	grid = gs_cuda_grid(device, (threads + ROWS_THREADS - 1) / ROWS_THREADS,
									BLOCKS_PER_SM);
	stored_rows rows;

	if (nrows == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	GS_CUDA_CHECK(send_rows(device, queue, &gather->from, &rows));
	if (row_words > 0)
		gather_equal_rows<<<grid, ROWS_THREADS, 0, stream>>>(rows, gather->ids, nrows, row_words,
															 (uint64_t *) gather->rows);
	else
		gather_placed_rows<<<grid, ROWS_THREADS, 0, stream>>>(
			rows, gather->ids, nrows, gather->ends, gather->first_ref, gather->refs,
			(uint64_t *) gather->rows);
	return gs_cuda_launched(device, "gather_rows");
}
