/*
 * cuda_runs.cu
 *		sort_runs(): sorts keys that are in order of their first bits by the last bits.
 *
 * Nearly all rows differ in the bits that were sorted by, so this reads the keys once and writes
 * next to nothing.  The thread of a short run's first row sorts the run where it is, by insertion.
 * Longer runs that are out of order are listed, each by the thread of its first row that is less
 * than the one before, and sorted by a thread block each: the local sort of the hybrid radix sort
 * (section 4.1).
 *
 * Other threads may read the keys of a short run while it is being sorted, but nothing depends on
 * their order: the threads of rows of a short run look how long it is, and those of neighbouring
 * rows look only at the bits in which all of the run agrees.  The order of a longer run's keys
 * matters, and no thread changes them before the run is listed.
 */
#include <cub/block/block_radix_sort.cuh>

#include "gs_cuda_device.cuh"

#define RUNS_THREADS	256u
#define BLOCKS_PER_SM	8u

#define LONG_ITEMS		(GS_LONG_RUN / RUNS_THREADS)
#define LONG_BLOCKS		64u

/* Runs to be sorted by blocks; they lie in the temp of the sort. */
struct long_runs
{
	unsigned	count;			/* number of runs found; may exceed GS_MANY_RUNS */
	uint64_t	first[GS_MANY_RUNS];	/* the runs' first rows */
};

/* Returns whether two keys agree in the bits from low_bit up. */
static __device__ __forceinline__ bool
agree(uint64_t a, uint64_t b, unsigned low_bit)
{
	return (a ^ b) >> low_bit == 0;
}

/* Returns how many rows the run from `first` on has, at most `most`. */
static __device__ __forceinline__ unsigned
run_length(const uint64_t *keys, uint64_t nrows, uint64_t first, unsigned low_bit, unsigned most)
{
	uint64_t	key = keys[first];
	unsigned	length = 1;

	while (length < most && first + length < nrows && agree(keys[first + length], key, low_bit))
		length++;
	return length;
}

template <typename Id>
static __device__ void
sort_short_run(uint64_t *keys, Id *ids, unsigned length)
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

/* Returns whether the run of row i is longer than a short one. */
static __device__ bool
in_long_run(const uint64_t *keys, uint64_t nrows, uint64_t i, unsigned low_bit)
{
	uint64_t	key = keys[i];
	unsigned	before = 0;

	while (before < GS_SHORT_RUN && i > before && agree(keys[i - before - 1], key, low_bit))
		before++;
	return before + run_length(keys, nrows, i, low_bit, GS_SHORT_RUN + 1) > GS_SHORT_RUN;
}

/*
 * Lists the run of row i, which is long, if i is the first row of it that is less than the one
 * before.
 */
static __device__ void
list_long_run(const uint64_t *keys, uint64_t i, unsigned low_bit, long_runs *runs,
			  uint32_t *unsorted)
{
	uint64_t	key = keys[i];
	uint64_t	first = i - 1;
	unsigned	at;

	while (first > 0 && agree(keys[first - 1], key, low_bit))
	{
		if (keys[first - 1] > keys[first])
			return;
		if (i - first >= GS_LONG_RUN)
		{
			*unsorted = 1;
			return;
		}
		first--;
	}
	at = atomicAdd(&runs->count, 1);
	if (at < GS_MANY_RUNS)
		runs->first[at] = first;
	else
		*unsorted = 1;
}

template <typename Id>
static __global__ void __launch_bounds__(RUNS_THREADS)
find_runs(uint64_t *keys, Id *ids, uint64_t nrows, unsigned low_bit, long_runs *runs,
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
				list_long_run(keys, i, low_bit, runs, unsorted);
		}
		else if (i + 1 < nrows && agree(keys[i + 1], key, low_bit))
		{
			unsigned	length = run_length(keys, nrows, i, low_bit, GS_SHORT_RUN + 1);

			if (length <= GS_SHORT_RUN)
				sort_short_run(keys + i, ids + i, length);
		}
	}
}

/* Sorts a run with all threads of a block. */
template <typename Id>
static __device__ void
sort_long_run(uint64_t *keys, Id *ids, unsigned length, unsigned low_bit)
{
	using Sort = cub::BlockRadixSort<uint64_t, RUNS_THREADS, LONG_ITEMS, Id>;

	__shared__ typename Sort::TempStorage shared;
	uint64_t	thread_keys[LONG_ITEMS];
	Id			thread_ids[LONG_ITEMS];

#pragma unroll
	for (unsigned item = 0; item < LONG_ITEMS; item++)
	{
		unsigned	i = threadIdx.x * LONG_ITEMS + item;

		thread_keys[item] = i < length ? keys[i] : UINT64_MAX;
		thread_ids[item] = i < length ? ids[i] : 0;
	}
	Sort(shared).Sort(thread_keys, thread_ids, 0, (int) low_bit);
#pragma unroll
	for (unsigned item = 0; item < LONG_ITEMS; item++)
	{
		unsigned	i = threadIdx.x * LONG_ITEMS + item;

		if (i < length)
		{
			keys[i] = thread_keys[item];
			ids[i] = thread_ids[item];
		}
	}
}

template <typename Id>
static __global__ void __launch_bounds__(RUNS_THREADS)
sort_long_runs(uint64_t *keys, Id *ids, uint64_t nrows, unsigned low_bit, const long_runs *runs,
			   uint32_t *unsorted)
{
	__shared__ unsigned length;
	unsigned	count = min(runs->count, (unsigned) GS_MANY_RUNS);

	for (unsigned number = blockIdx.x; number < count; number += gridDim.x)
	{
		uint64_t	first = runs->first[number];

		__syncthreads();
		if (threadIdx.x == 0)
			length = run_length(keys, nrows, first, low_bit, GS_LONG_RUN + 1);
		__syncthreads();
		if (length <= GS_LONG_RUN)
			sort_long_run(keys + first, ids + first, length, low_bit);
		else if (threadIdx.x == 0)
			*unsorted = 1;
	}
}

template <typename Id>
static gs_status
launch_runs(gs_cuda_device *device, gs_queue queue, gs_pairs pairs, uint64_t nrows,
			unsigned low_bit, long_runs *runs, uint32_t *unsorted)
{
	cudaStream_t stream = device->streams[queue];
	unsigned	grid = gs_cuda_grid(device, (nrows + RUNS_THREADS - 1) / RUNS_THREADS,
									BLOCKS_PER_SM);

	GS_CUDA_TRY(device, cudaMemsetAsync(&runs->count, 0, sizeof(runs->count), stream));
	find_runs<Id><<<grid, RUNS_THREADS, 0, stream>>>(pairs.keys, (Id *) pairs.ids, nrows, low_bit,
													runs, unsorted);
	GS_CUDA_LAUNCHED(device, "find_runs");
	sort_long_runs<Id><<<LONG_BLOCKS, RUNS_THREADS, 0, stream>>>(pairs.keys, (Id *) pairs.ids,
																 nrows, low_bit, runs, unsorted);
	return gs_cuda_launched(device, "sort_long_runs");
}

gs_status
gs_cuda_sort_runs(gs_device *base, gs_queue queue, gs_pairs pairs, unsigned id_bytes,
				  uint64_t nrows, unsigned low_bit, void *temp, uint32_t *unsorted)
{
	gs_cuda_device *device = gs_cuda(base);

	if (nrows < 2 || low_bit == 0)
		return GS_OK;
	GS_CUDA_ENTER(device);
	if (id_bytes == sizeof(uint32_t))
		return launch_runs<uint32_t>(device, queue, pairs, nrows, low_bit, (long_runs *) temp,
									 unsorted);
	return launch_runs<uint64_t>(device, queue, pairs, nrows, low_bit, (long_runs *) temp,
								 unsorted);
}

size_t
gs_cuda_runs_temp_bytes(void)
{
	return sizeof(long_runs);
}
