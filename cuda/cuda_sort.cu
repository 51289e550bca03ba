/*
 * cuda_sort.cu
 *		sort(): CUB's radix sort on the bits that are left.
 *
 * CUB's sort is stable.  On Hopper it takes digits of 8 bits, and one sweep for each digit.  CUB
 * takes two arrays of pairs and says in which of them the result is.
 *
 * Its templates take longest to compile here, hence a file of their own and no instances but two:
 * for 32-bit and 64-bit ids, both with 64-bit counts.
 */
#include <algorithm>

#include <cub/device/device_radix_sort.cuh>

#include "gs_cuda_device.cuh"

/* Calls CUB, in both of its phases: with temp NULL it only sets *temp_bytes. */
template <typename Id>
static cudaError_t
sort_pairs(void *temp, size_t *temp_bytes, gs_pairs pairs, gs_pairs spare, uint64_t nrows,
		   unsigned low_bit, unsigned bits, cudaStream_t stream, bool *in_spare)
{
	cub::DoubleBuffer<uint64_t> keys(pairs.keys, spare.keys);
	cub::DoubleBuffer<Id> ids((Id *) pairs.ids, (Id *) spare.ids);
	cudaError_t error;

	error = cub::DeviceRadixSort::SortPairs(temp, *temp_bytes, keys, ids, nrows, (int) low_bit,
											(int) bits, stream);
	*in_spare = keys.selector != 0;
	return error;
}

gs_status
gs_cuda_sort(gs_device *base, gs_queue queue, gs_pairs pairs, gs_pairs spare, unsigned id_bytes,
			 uint64_t nrows, unsigned low_bit, unsigned bits, void *temp, bool *in_spare)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	size_t		temp_bytes;

	*in_spare = false;
	if (nrows < 2 || bits == low_bit)
		return GS_OK;
	GS_CUDA_ENTER(device);
	temp_bytes = base->ops->sort_temp_bytes(base, id_bytes, nrows);
	if (id_bytes == sizeof(uint32_t))
		GS_CUDA_TRY(device, sort_pairs<uint32_t>(temp, &temp_bytes, pairs, spare, nrows, low_bit,
												 bits, stream, in_spare));
	else
		GS_CUDA_TRY(device, sort_pairs<uint64_t>(temp, &temp_bytes, pairs, spare, nrows, low_bit,
												 bits, stream, in_spare));
	return GS_OK;
}

/*
 * Returns the memory that sort() and sort_runs() need; a sort by all bits needs the most.  Returns
 * SIZE_MAX, which no arena has, if CUB cannot tell.
 */
size_t
gs_cuda_sort_temp_bytes(gs_device *base, unsigned id_bytes, uint64_t nrows)
{
	gs_cuda_device *device = gs_cuda(base);
	gs_pairs	none = {};
	size_t		temp_bytes = 0;
	cudaError_t error;
	bool		in_spare;

	if (gs_cuda_enter(device) != GS_OK)
		return SIZE_MAX;
	if (id_bytes == sizeof(uint32_t))
		error = sort_pairs<uint32_t>(nullptr, &temp_bytes, none, none, nrows, 0, 64, nullptr,
									 &in_spare);
	else
		error = sort_pairs<uint64_t>(nullptr, &temp_bytes, none, none, nrows, 0, 64, nullptr,
									 &in_spare);
	if (error != cudaSuccess)
	{
		(void) gs_cuda_failed(device, error, "cub::DeviceRadixSort::SortPairs");
		return SIZE_MAX;
	}
	return std::max(temp_bytes, gs_cuda_runs_temp_bytes());
}
