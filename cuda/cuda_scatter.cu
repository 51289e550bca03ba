/*
 * cuda_scatter.cu
 *		scatter(): brings every row to the next place of its bin, in one pass.
 *
 * As in RMG sort, section 4, keys are first put in order of their bins in shared memory, so that
 * the rows that a bin gets from a tile leave in one run of consecutive words.  Unlike there the
 * scatter is stable, because equal keys have to stay in order, and it reads the keys once, without
 * counts of each tile made before:
 *
 * 1. A block takes the next tile, in the order of rows.
 * 2. Its warps count their rows by bin, and the tile's sums are published.
 * 3. Each warp ranks its rows, 32 at a time: lanes of the same bin find each other
 *    by setting their bits in a word of shared memory.  A counter for the warp and the
 *    bin, which begins with the rows of earlier warps and bins, tells how many rows
 *    come before.
 * 4. Rows go to shared memory at their rank in the tile.
 * 5. The thread of a bin looks back over what earlier tiles have published, adding it
 *    up, until it meets a tile that has published its sum of all tiles so far
 *    (Merrill and Garland's decoupled look-back).  The tiles before were taken
 *    earlier, so they are running or done: no block waits for one that has no
 *    multiprocessor.
 * 6. Rows leave in the order of ranks, each bin's run for its place in a target,
 *    which may be memory of another GPU.  A row in shared memory is a key and the
 *    row's number in the tile; ids are made on the way out.
 *
 * In almost all tiles the address of a bin's first row is all that its run needs.  Only if the run
 * crosses from one target into the next, or out of all targets, are addresses looked up row by row.
 *
 * The speed of the kernel is limited by the number of its instructions.  Hence rows without a bin
 * are treated as if they had one, until they are left out of shared memory.
 *
 * Published counts have 30 bits, so a launch takes up to 2^29 rows; the next launch begins at the
 * positions that the one before has moved on.
 */
#include <algorithm>

#include "gs_cuda_device.cuh"

/*
 * Threads of a block and rows that a thread has in hand.  A block takes 11 bytes of shared memory a
 * row, 2 kB a warp and 10 kB besides.  Two of the large blocks fit into the 227 kB that a Hopper
 * multiprocessor gives, one of the small ones into the 64 kB of Turing.
 */
#define THREADS_LARGE	384u
#define THREADS_SMALL	256u
#define ITEMS_LARGE		16u
#define ITEMS_SMALL		12u
#define MIN_BLOCKS_LARGE 2
#define MIN_BLOCKS_SMALL 1

#define PORTION_SEGMENTS	((UINT64_C(1) << 29) >> GS_SEGMENT_SHIFT)

/* A published word consists of a state and a count. */
#define PUBLISHED_COUNT		(1u << 30)
#define PUBLISHED_SUM		(2u << 30)
#define PUBLISHED_MASK		(PUBLISHED_COUNT - 1)

/* So many tiles are looked at together on the way back. */
#define LOOK_BACK_TILES	8

/* Most targets that one scatter() writes to: a kernel parameter of 2 kB. */
#define MAX_TARGETS		64

/* The bin of rows that take no part; other bins are 0 .. GS_MAX_BINS - 1. */
#define NO_BIN			GS_MAX_BINS
#define COUNTED_BINS	(GS_MAX_BINS + 1)

template <typename Id> struct scatter_target
{
	uint64_t	begin;
	uint64_t	end;
	uint64_t   *keys;
	Id		   *ids;
};

template <typename Id> struct scatter_args
{
	uint64_t	nrows;
	uint64_t	ntiles;
	uint64_t	first_row;
	gs_cuda_keys keys;
	const gs_bin_tree *tree;
	unsigned	root_shift;		/* which digit of a key node 0 looks at */
	unsigned	root_mask;
	unsigned	nbins;
	uint64_t   *positions;
	const uint64_t *starts;		/* what positions[] was when the launch began */
	uint32_t   *published;		/* words by tile and bin: [tile][GS_MAX_BINS] */
	unsigned   *next_tile;
	unsigned	ntargets;
	scatter_target<Id> targets[MAX_TARGETS];
};

/* The addresses that a bin's row of rank 0 in the tile would have. */
template <typename Id> struct bin_place
{
	uint64_t   *keys;
	Id		   *ids;
};

/* A block's shared memory. */
template <unsigned THREADS, unsigned ITEMS, typename Id> struct scatter_shared
{
	static constexpr unsigned WARPS = THREADS / GS_WARP_THREADS;
	static constexpr unsigned TILE = THREADS * ITEMS;

	uint64_t	keys[TILE];		/* keys by rank */
	bin_place<Id> places[GS_MAX_BINS];
	uint64_t	begins[GS_MAX_BINS];	/* by bin, the position that rank 0 would have */
	/* by warp and bin, the number of rows, and then the rank of the next one */
	uint32_t	counts[WARPS][COUNTED_BINS];
	/* by warp and bin, the lanes that have a row of the bin */
	uint32_t	masks[WARPS][COUNTED_BINS];
	uint32_t	warp_sums[GS_MAX_BINS / GS_WARP_THREADS];
	unsigned	tile;
	unsigned	split;			/* 1: some run crosses the end of its target */
	unsigned	ranked;			/* number of rows that have a bin */
	uint16_t	root[GS_DEVICE_DIGITS]; /* the entries of node 0 */
	uint16_t	numbers[TILE];	/* the row's number in the tile, by rank */
	uint8_t		bins[TILE];
};

/* Clears what the tiles publish, and remembers where the bins begin. */
static __global__ void
prepare_scatter(uint32_t *published, uint64_t nwords, unsigned *next_tile, uint64_t *starts,
				const uint64_t *positions, unsigned nbins)
{
	uint64_t	thread = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;

	for (uint64_t i = thread; i < nwords; i += (uint64_t) gridDim.x * blockDim.x)
		published[i] = 0;
	if (thread < nbins)
		starts[thread] = positions[thread];
	if (thread == 0)
		*next_tile = 0;
}

/* Returns the bin that an entry of the tree, which is a node, leads to. */
template <typename Id>
static __device__ __noinline__ unsigned
find_deep_bin(const scatter_args<Id> &args, unsigned entry, uint64_t key)
{
	while (entry & GS_TREE_NODE)
	{
		unsigned	node = entry & ~GS_TREE_NODE;
		unsigned	mask = (1u << args.tree->nodes[node].digit_bits) - 1;

		entry = args.tree->entries[node][(unsigned) (key >> args.tree->nodes[node].digit_shift) &
										 mask];
	}
	return entry;
}

/* Returns the exclusive sum over the threads of one value for each bin. */
template <typename Shared>
static __device__ __forceinline__ unsigned
sum_before_bin(Shared &shared, unsigned count)
{
	unsigned	lane = threadIdx.x % GS_WARP_THREADS;
	unsigned	warp = threadIdx.x / GS_WARP_THREADS;
	unsigned	sum = count;

	for (unsigned distance = 1; distance < GS_WARP_THREADS; distance *= 2)
	{
		unsigned	other = __shfl_up_sync(~0u, sum, distance);

		if (lane >= distance)
			sum += other;
	}
	if (threadIdx.x < GS_MAX_BINS && lane == GS_WARP_THREADS - 1)
		shared.warp_sums[warp] = sum;
	__syncthreads();
	if (threadIdx.x < GS_MAX_BINS)
		for (unsigned i = 0; i < warp; i++)
			sum += shared.warp_sums[i];
	return sum - count;
}

/*
 * Publishes a word.  It has state and count in one, so that nothing has to be ordered between one
 * block's writing it and another's reading it.
 */
static __device__ __forceinline__ void
publish(uint32_t *published, unsigned tile, unsigned bin, uint32_t word)
{
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;"
				 :: "l"(published + (uint64_t) tile * GS_MAX_BINS + bin), "r"(word) : "memory");
}

static __device__ __forceinline__ uint32_t
read_published(const uint32_t *published, unsigned tile, unsigned bin)
{
	uint32_t	word;

	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
				 : "=r"(word)
				 : "l"(published + (uint64_t) tile * GS_MAX_BINS + bin) : "memory");
	return word;
}

/*
 * Returns how many rows of a bin are in all earlier tiles.  Several tiles' words are read at a
 * time: the chain of tiles that wait for each other's sums is what limits the speed.  Tile 0 has a
 * sum of 0 before it.
 */
static __device__ __forceinline__ uint32_t
look_back(const uint32_t *published, unsigned tile, unsigned bin)
{
	uint32_t	sum = 0;
	bool		found = false;

	while (!found)
	{
		uint32_t	words[LOOK_BACK_TILES];
		unsigned	taken = 0;

#pragma unroll
		for (unsigned i = 0; i < LOOK_BACK_TILES; i++)
			words[i] = i < tile ? read_published(published, tile - 1 - i, bin) : PUBLISHED_SUM;
#pragma unroll
		for (unsigned i = 0; i < LOOK_BACK_TILES; i++)
			if (!found && taken == i && words[i] != 0)
			{
				sum += words[i] & PUBLISHED_MASK;
				found = words[i] & PUBLISHED_SUM;
				taken++;
			}
		tile -= min(taken, tile);
	}
	return sum;
}

/* Returns the target that holds a position, or NULL. */
template <typename Id>
static __device__ __forceinline__ const scatter_target<Id> *
find_target(const scatter_args<Id> &args, uint64_t position)
{
	for (unsigned i = 0; i < args.ntargets; i++)
		if (position >= args.targets[i].begin && position < args.targets[i].end)
			return &args.targets[i];
	return nullptr;
}

/*
 * Sets where a bin's run, which has ranks [rank, rank + count) of the tile, goes: from position
 * `begin` on.
 */
template <typename Shared, typename Id>
static __device__ __forceinline__ void
place_run(const scatter_args<Id> &args, Shared &shared, unsigned bin,
		  uint64_t begin, unsigned rank, unsigned count)
{
	const scatter_target<Id> *target = find_target(args, begin);

	shared.begins[bin] = begin - rank;
	if (target == nullptr || begin + count > target->end)
	{
		shared.split = 1;
		return;
	}
	shared.places[bin].keys = target->keys + (begin - target->begin) - rank;
	shared.places[bin].ids = target->ids + (begin - target->begin) - rank;
}

/* Writes the tile's rows out, if every run stays in one target. */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
store_rows(const scatter_shared<THREADS, ITEMS, Id> &shared, uint64_t first_row)
{
	unsigned	nranked = shared.ranked;

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	rank = i * THREADS + threadIdx.x;

		if (rank < nranked)
		{
			bin_place<Id> place = shared.places[shared.bins[rank]];

			place.keys[rank] = shared.keys[rank];
			place.ids[rank] = (Id) first_row + shared.numbers[rank];
		}
	}
}

/* Does the same, wherever the rows go. */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __noinline__ void
store_split_rows(const scatter_args<Id> &args, const scatter_shared<THREADS, ITEMS, Id> &shared,
				 uint64_t first_row)
{
	for (unsigned rank = threadIdx.x; rank < shared.ranked; rank += THREADS)
	{
		uint64_t	position = shared.begins[shared.bins[rank]] + rank;
		const scatter_target<Id> *target = find_target(args, position);

		if (target == nullptr)
			continue;
		target->keys[position - target->begin] = shared.keys[rank];
		target->ids[position - target->begin] = (Id) (first_row + shared.numbers[rank]);
	}
}

/* Takes a tile, clears the counters, and copies the root of the tree. */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
begin_tile(const scatter_args<Id> &args, scatter_shared<THREADS, ITEMS, Id> &shared)
{
	uint32_t   *counters = &shared.counts[0][0];	/* the masks are behind them */

	if (threadIdx.x == 0)
	{
		shared.tile = atomicAdd(args.next_tile, 1);
		shared.split = 0;
	}
	for (unsigned i = threadIdx.x; i < 2 * shared.WARPS * COUNTED_BINS; i += THREADS)
		counters[i] = 0;
	if (threadIdx.x < GS_DEVICE_DIGITS)
		shared.root[threadIdx.x] = args.tree->entries[0][threadIdx.x];
	__syncthreads();
}

/* Loads the keys of a thread's rows, and finds their bins by the tree. */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
load_rows(const scatter_args<Id> &args, const scatter_shared<THREADS, ITEMS, Id> &shared,
		  const gs_cuda_tile &tile, unsigned first, uint64_t (&keys)[ITEMS],
		  unsigned (&bins)[ITEMS])
{
	const uint64_t *words = segment_memory(args.keys.words, tile.segment, GS_SEGMENT_ROWS) +
		tile.first + first;

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
		keys[i] = first + i * GS_WARP_THREADS < tile.count ? words[i * GS_WARP_THREADS] : 0;
#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	entry;

		keys[i] = key_of(args.keys, keys[i]);
		entry = shared.root[(unsigned) (keys[i] >> args.root_shift) & args.root_mask];
		if (entry & GS_TREE_NODE)
			entry = find_deep_bin(args, entry, keys[i]);
		bins[i] = first + i * GS_WARP_THREADS < tile.count ? min(entry, NO_BIN) : NO_BIN;
	}
}

/*
 * Turns each warp's count of a bin into the rank in the tile of its first row there.  Publishes the
 * tile's counts.  Returns, to the bin's thread, the bin's first rank and its count.
 */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
sum_counts(const scatter_args<Id> &args, scatter_shared<THREADS, ITEMS, Id> &shared,
		   unsigned *first, unsigned *count)
{
	unsigned	bin = threadIdx.x;
	unsigned	rank;

	*count = 0;
	if (bin < GS_MAX_BINS)
	{
#pragma unroll
		for (unsigned warp = 0; warp < shared.WARPS; warp++)
			*count += shared.counts[warp][bin];
		publish(args.published, shared.tile, bin,
				(shared.tile == 0 ? PUBLISHED_SUM : PUBLISHED_COUNT) | *count);
	}
	*first = rank = sum_before_bin(shared, *count);
	if (bin < GS_MAX_BINS)
	{
#pragma unroll
		for (unsigned warp = 0; warp < shared.WARPS; warp++)
		{
			unsigned	of_warp = shared.counts[warp][bin];

			shared.counts[warp][bin] = rank;
			rank += of_warp;
		}
		if (bin == GS_MAX_BINS - 1)
			shared.ranked = rank;
	}
}

/*
 * Returns the rank in the tile of the thread's row: rows of the same bin that are before it, and
 * all rows of bins before, have lower ranks.
 */
static __device__ __forceinline__ unsigned
rank_row(uint32_t *counts, uint32_t *masks, unsigned bin)
{
	unsigned	lane_bit = 1u << threadIdx.x % GS_WARP_THREADS;
	unsigned	lanes;
	unsigned	before;
	unsigned	rank;

	atomicOr(&masks[bin], lane_bit);
	__syncwarp();
	lanes = masks[bin];
	rank = counts[bin];
	before = __popc(lanes & (lane_bit - 1));
	__syncwarp();
	if (before == 0)
	{
		counts[bin] = rank + __popc(lanes);
		masks[bin] = 0;
	}
	__syncwarp();
	return rank + before;
}

/* Finds out where the bin's run goes, and tells later tiles. */
template <unsigned THREADS, unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
place_bin(const scatter_args<Id> &args, scatter_shared<THREADS, ITEMS, Id> &shared,
		  unsigned first, unsigned count)
{
	unsigned	bin = threadIdx.x;
	uint32_t	before = look_back(args.published, shared.tile, bin);

	if (shared.tile > 0)
		publish(args.published, shared.tile, bin, PUBLISHED_SUM | (before + count));
	if (shared.tile == args.ntiles - 1)
		args.positions[bin] = args.starts[bin] + before + count;
	if (count > 0)
		place_run(args, shared, bin, args.starts[bin] + before, first, count);
}

template <unsigned THREADS, unsigned ITEMS, unsigned MIN_BLOCKS, typename Id>
static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
scatter_rows(const __grid_constant__ scatter_args<Id> args)
{
	extern __shared__ __align__(16) unsigned char shared_bytes[];
	auto	   &shared = *reinterpret_cast<scatter_shared<THREADS, ITEMS, Id> *>(shared_bytes);
	unsigned	warp = threadIdx.x / GS_WARP_THREADS;
	unsigned	first_item = warp * GS_WARP_THREADS * ITEMS + threadIdx.x % GS_WARP_THREADS;
	uint64_t	keys[ITEMS];
	unsigned	bins[ITEMS];
	unsigned	first;
	unsigned	count;

	begin_tile(args, shared);
	gs_cuda_tile tile = find_tile<THREADS * ITEMS>(shared.tile, args.nrows);

	load_rows(args, shared, tile, first_item, keys, bins);
#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
		atomicAdd(&shared.counts[warp][bins[i]], 1);
	__syncthreads();
	sum_counts(args, shared, &first, &count);
	__syncthreads();

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	rank = rank_row(shared.counts[warp], shared.masks[warp], bins[i]);

		if (bins[i] != NO_BIN)
		{
			shared.keys[rank] = keys[i];
			shared.numbers[rank] = (uint16_t) (first_item + i * GS_WARP_THREADS);
			shared.bins[rank] = (uint8_t) bins[i];
		}
	}
	if (threadIdx.x < args.nbins)
		place_bin(args, shared, first, count);
	__syncthreads();

	uint64_t	first_row = args.first_row + tile.segment * GS_SEGMENT_ROWS + tile.first;

	if (shared.split)
		store_split_rows(args, shared, first_row);
	else
		store_rows(shared, first_row);
}

/* The kernel for a GPU and a width of ids, and how it is launched. */
template <typename Id> struct scatter_kernel
{
	void		(*kernel) (scatter_args<Id> args);
	unsigned	threads;
	unsigned	tile_rows;
	size_t		shared_bytes;
};

template <typename Id>
static scatter_kernel<Id>
choose_kernel(const gs_cuda_device *device)
{
	typedef scatter_shared<THREADS_LARGE, ITEMS_LARGE, Id> large;
	typedef scatter_shared<THREADS_SMALL, ITEMS_SMALL, Id> small;

	if (device->properties.sharedMemPerBlockOptin >= sizeof(large))
		return {scatter_rows<THREADS_LARGE, ITEMS_LARGE, MIN_BLOCKS_LARGE, Id>, THREADS_LARGE,
				large::TILE, sizeof(large)};
	return {scatter_rows<THREADS_SMALL, ITEMS_SMALL, MIN_BLOCKS_SMALL, Id>, THREADS_SMALL,
			small::TILE, sizeof(small)};
}

/* Lets the kernels have the shared memory that they ask for. */
gs_status
gs_cuda_scatter_open(gs_cuda_device *device)
{
	scatter_kernel<uint32_t> narrow = choose_kernel<uint32_t>(device);
	scatter_kernel<uint64_t> wide = choose_kernel<uint64_t>(device);

	GS_CUDA_TRY(device, cudaFuncSetAttribute(narrow.kernel,
											 cudaFuncAttributeMaxDynamicSharedMemorySize,
											 (int) narrow.shared_bytes));
	GS_CUDA_TRY(device, cudaFuncSetAttribute(wide.kernel,
											 cudaFuncAttributeMaxDynamicSharedMemorySize,
											 (int) wide.shared_bytes));
	return GS_OK;
}

/* What scatter() keeps in the caller's temp. */
struct scatter_temp
{
	uint64_t	starts[GS_MAX_BINS];
	unsigned	next_tile;
	alignas(256) uint32_t published[];
};

template <typename Id>
static gs_status
launch_portion(gs_cuda_device *device, gs_queue queue, const scatter_kernel<Id> &kernel,
			   const scatter_args<Id> &args, scatter_temp *temp)
{
	cudaStream_t stream = device->streams[queue];
	uint64_t	nwords = args.ntiles * GS_MAX_BINS;

	prepare_scatter<<<gs_cuda_grid(device, nwords / 1024 + 1, 4), 256, 0, stream>>>(
		args.published, nwords, args.next_tile, temp->starts, args.positions, args.nbins);
	GS_CUDA_LAUNCHED(device, "prepare_scatter");
	kernel.kernel<<<(unsigned) args.ntiles, kernel.threads, kernel.shared_bytes, stream>>>(args);
	return gs_cuda_launched(device, "scatter_rows");
}

/* Launches the kernel portion by portion, with arguments that lie in device memory already. */
template <typename Id>
static gs_status
launch_scatter(gs_cuda_device *device, gs_queue queue, const gs_scatter *scatter,
			   const gs_bin_tree *tree, gs_cuda_segments words)
{
	scatter_temp *temp = (scatter_temp *) scatter->temp;
	scatter_kernel<Id> kernel = choose_kernel<Id>(device);
	scatter_args<Id> args = {};

	args.keys = {words, scatter->keys.min, scatter->keys.shift};
	args.tree = tree;
	args.root_shift = scatter->tree->nodes[0].digit_shift;
	args.root_mask = (1u << scatter->tree->nodes[0].digit_bits) - 1;
	args.nbins = scatter->tree->nbins;
	args.positions = scatter->positions;
	args.starts = temp->starts;
	args.published = temp->published;
	args.next_tile = &temp->next_tile;
	args.ntargets = scatter->ntargets;
	for (unsigned i = 0; i < scatter->ntargets; i++)
	{
		const gs_target *target = &scatter->targets[i];

		args.targets[i] = {target->begin, target->begin + target->nrows, target->pairs.keys,
						   (Id *) target->pairs.ids};
	}
	for (uint64_t segment = 0; segment < gs_rows_segments(scatter->rows);
		 segment += PORTION_SEGMENTS)
	{
		uint64_t	begin = segment * GS_SEGMENT_ROWS;

		args.first_row = scatter->rows.first_row + begin;
		args.nrows = std::min(scatter->rows.nrows - begin, PORTION_SEGMENTS * GS_SEGMENT_ROWS);
		args.ntiles = count_tiles(args.nrows, kernel.tile_rows);
		if (words.table != nullptr)
			args.keys.words.table = words.table + segment;
		else
			args.keys.words.base = words.base + begin;
		GS_CUDA_CHECK(launch_portion(device, queue, kernel, args, temp));
	}
	return GS_OK;
}

/* Returns the bytes of a tree up to its last node's entries. */
static size_t
tree_bytes(const gs_bin_tree *tree)
{
	return offsetof(gs_bin_tree, entries) + tree->nnodes * sizeof(tree->entries[0]);
}

gs_status
gs_cuda_scatter(gs_device *base, gs_queue queue, const gs_scatter *scatter)
{
	gs_cuda_device *device = gs_cuda(base);
	uint64_t	nsegments = gs_rows_segments(scatter->rows);
	gs_cuda_staging staging;
	gs_cuda_segments words;
	const gs_bin_tree *tree;
	size_t		bytes;

	if (scatter->rows.nrows == 0)
		return GS_OK;
	if (scatter->ntargets > MAX_TARGETS)
		return gs_cuda_refused(device, GS_INVALID, "too many targets of a scatter");
	GS_CUDA_ENTER(device);
	bytes = gs_cuda_staged_bytes(tree_bytes(scatter->tree)) +
		gs_cuda_segments_bytes(scatter->keys.words, nsegments, GS_SEGMENT_ROWS);
	GS_CUDA_CHECK(gs_cuda_reserve(device, queue, bytes, &staging));
	tree = (const gs_bin_tree *) gs_cuda_stage(&staging, scatter->tree, tree_bytes(scatter->tree));
	words = gs_cuda_stage_segments(&staging, scatter->keys.words, nsegments, GS_SEGMENT_ROWS);
	GS_CUDA_CHECK(gs_cuda_send(device, queue, &staging));
	if (scatter->id_bytes == sizeof(uint32_t))
		return launch_scatter<uint32_t>(device, queue, scatter, tree, words);
	return launch_scatter<uint64_t>(device, queue, scatter, tree, words);
}

size_t
gs_cuda_scatter_temp_bytes(gs_device *base, gs_rows rows)
{
	uint64_t	nrows = std::min(rows.nrows, PORTION_SEGMENTS * GS_SEGMENT_ROWS);

	unsigned	tile_rows = choose_kernel<uint64_t>(gs_cuda(base)).tile_rows;

	return sizeof(scatter_temp) + count_tiles(nrows, tile_rows) * GS_MAX_BINS * sizeof(uint32_t);
}
