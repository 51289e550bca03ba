/*
 * cuda_ids.cu
 *		put_ids() and count_up(): they put row ids at places, and write ascending row ids.
 */
#include "gs_cuda_device.cuh"

#define IDS_THREADS		256u
#define BLOCKS_PER_SM	8u

template <typename Id>
static __global__ void __launch_bounds__(IDS_THREADS)
place_ids(Id *ids, const uint32_t *positions, const Id *from_ids, uint64_t nrows)
{
	for (uint64_t i = (uint64_t) blockIdx.x * IDS_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * IDS_THREADS)
		ids[positions[i]] = from_ids[i];
}

template <typename Id>
static __global__ void __launch_bounds__(IDS_THREADS)
number_ids(Id *ids, uint64_t first, uint64_t nrows)
{
	for (uint64_t i = (uint64_t) blockIdx.x * IDS_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * IDS_THREADS)
		ids[i] = (Id) (first + i);
}

static unsigned
ids_grid(const gs_cuda_device *device, uint64_t nrows)
{
	return gs_cuda_grid(device, (nrows + IDS_THREADS - 1) / IDS_THREADS, BLOCKS_PER_SM);
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
		place_ids<<<ids_grid(device, nrows), IDS_THREADS, 0, stream>>>(
			(uint32_t *) ids, positions, (const uint32_t *) from_ids, nrows);
	else
		place_ids<<<ids_grid(device, nrows), IDS_THREADS, 0, stream>>>(
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
		number_ids<<<ids_grid(device, nrows), IDS_THREADS, 0, stream>>>((uint32_t *) ids, first,
																		 nrows);
	else
		number_ids<<<ids_grid(device, nrows), IDS_THREADS, 0, stream>>>((uint64_t *) ids, first,
																		 nrows);
	return gs_cuda_launched(device, "number_ids");
}
