/*
 * cuda_runs.cu
 *		sort_runs(): the last bits of keys that are sorted by the first ones.
 *
 * Nearly all rows differ in the bits that were sorted by, so this reads the keys
 * once and writes next to nothing.  The thread of a short run's first row sorts
 * the run where it is, by insertion.  Other threads may read its keys meanwhile,
 * but nothing depends on their order: rows of a short run ask how long it is, and
 * neighbours of the run only for the bits in which all of it agrees.  The order
 * of a long run's keys matters, and nobody changes them.
 */
#include "gs_cuda_device.cuh"

#define RUNS_THREADS	256u
#define BLOCKS_PER_SM	8u

/* Do the rows at two places agree in the bits from low_bit up? */
static __device__ __forceinline__ bool
agree(uint64_t a, uint64_t b, unsigned low_bit)
{
	return (a ^ b) >> low_bit == 0;
}

/* Rows of the run from `first` on, at most `most`. */
static __device__ __forceinline__ unsigned
run_length(const uint64_t *keys, uint64_t nrows, uint64_t first, unsigned low_bit,
		   unsigned most)
{
	uint64_t	key = keys[first];
	unsigned	length = 1;

	while (length < most && first + length < nrows && agree(keys[first + length], key, low_bit))
		length++;
	return length;
}

template <typename Id>
static __device__ void
sort_run(uint64_t *keys, Id *ids, unsigned length)
{
	for (unsigned i = 1; i < length; i++)
	{
		uint64_t	key = keys[i];
		Id			id = ids[i];
		unsigned	at = i;

		if (keys[i - 1] <= key)
			continue;
		for (; at > 0 && keys[at - 1] > key; at--)
		{
			keys[at] = keys[at - 1];
			ids[at] = ids[at - 1];
		}
		keys[at] = key;
		ids[at] = id;
	}
}

/* Row i is not in order with the one before: is their run a long one? */
static __device__ bool
in_long_run(const uint64_t *keys, uint64_t nrows, uint64_t i, unsigned low_bit)
{
	uint64_t	key = keys[i];
	unsigned	before = 1;

	while (before < GS_SHORT_RUN && i > before && agree(keys[i - before - 1], key, low_bit))
		before++;
	return before + run_length(keys, nrows, i, low_bit, GS_SHORT_RUN) > GS_SHORT_RUN;
}

template <typename Id>
static __global__ void __launch_bounds__(RUNS_THREADS)
sort_short_runs(uint64_t *keys, Id *ids, uint64_t nrows, unsigned low_bit,
				uint32_t *unsorted)
{
	for (uint64_t i = (uint64_t) blockIdx.x * RUNS_THREADS + threadIdx.x; i < nrows;
		 i += (uint64_t) gridDim.x * RUNS_THREADS)
	{
		uint64_t	key = keys[i];
		uint64_t	last = i > 0 ? keys[i - 1] : 0;

		if (i > 0 && agree(last, key, low_bit))
		{
			if (last > key && in_long_run(keys, nrows, i, low_bit))
				*unsorted = 1;
		}
		else if (i + 1 < nrows && agree(keys[i + 1], key, low_bit))
		{
			unsigned	length = run_length(keys, nrows, i, low_bit, GS_SHORT_RUN + 1);

			if (length <= GS_SHORT_RUN)
				sort_run(keys + i, ids + i, length);
		}
	}
}

static gs_status
sort_runs(gs_device *base, gs_queue queue, gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
		  unsigned low_bit, uint32_t *unsorted)
{
	gs_cuda_device *device = gs_cuda(base);
	cudaStream_t stream = device->streams[queue];
	unsigned	grid;

	if (nrows < 2 || low_bit == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	grid = gs_cuda_grid(device, (nrows + RUNS_THREADS - 1) / RUNS_THREADS, BLOCKS_PER_SM);
	if (id_bytes == sizeof(uint32_t))
		sort_short_runs<<<grid, RUNS_THREADS, 0, stream>>>(pairs.keys, (uint32_t *) pairs.ids,
														   nrows, low_bit, unsorted);
	else
		sort_short_runs<<<grid, RUNS_THREADS, 0, stream>>>(pairs.keys, (uint64_t *) pairs.ids,
														   nrows, low_bit, unsorted);
	return gs_cuda_launched(device, "sort_short_runs");
}

void
gs_cuda_add_runs_ops(gs_device_ops *ops)
{
	ops->sort_runs = sort_runs;
}
