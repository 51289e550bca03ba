/*
 * cuda_scatter.cu
 *		scatter(): every row to the next place of its bin, in one pass.
 *
 * RMG sort, section 4: keys are first put in order of their bins in shared
 * memory, so that what a bin gets from a tile leaves in one run of consecutive
 * words.  Unlike there the scatter is stable, because equal keys have to stay in
 * order, and it reads the keys once, without counts of each tile made before:
 *
 * 1. A block takes the next tile, in the order of rows.
 * 2. Each warp ranks its rows among themselves, 32 at a time: lanes of the same
 *    bin find each other by ballots on the bits of the bin number, whatever the
 *    distribution, and the warp's counter of the bin tells what came before.
 * 3. The tile's count of each bin is published.  One thread a bin looks back over
 *    the counts of earlier tiles, adding them up, until it meets one that has
 *    published its sum of all tiles so far (Merrill and Garland's decoupled
 *    look-back).  A tile's predecessors have been taken before, so they are
 *    running or done: nobody waits for a block that has no multiprocessor.
 * 4. Rows go to shared memory at their rank in the tile, and from there to the
 *    targets, which may be memory of other GPUs.  A row is stored as its key and
 *    its number in the tile; ids are made on the way out.
 *
 * A bin's run has one address for its first row in almost all tiles.  Only where
 * it crosses from one target into the next, or out of them all, are addresses
 * looked up row by row.
 *
 * Published counts have 30 bits, so a launch takes up to 2^29 rows; the next one
 * begins where it has moved the positions to.
 */
#include <algorithm>

#include "gs_cuda_rows.cuh"

#define SCATTER_THREADS	512u
#define SCATTER_WARPS	(SCATTER_THREADS / GS_WARP_THREADS)

/*
 * Rows that a thread has in hand.  A tile of 512 threads takes 11 bytes of shared
 * memory a row and 21 kB besides: two blocks of 12 rows a thread fit into the
 * 227 kB that a Hopper multiprocessor gives, one of 6 rows into the 64 kB of
 * Turing.
 */
#define ITEMS_LARGE		12u
#define ITEMS_SMALL		6u

/* Nodes of the bin tree kept in shared memory, beginning with the root. */
#define SHARED_NODES	8u

#define PORTION_SEGMENTS	((UINT64_C(1) << 29) >> GS_SEGMENT_SHIFT)

/* A published word: state and count. */
#define PUBLISHED_COUNT		(1u << 30)
#define PUBLISHED_SUM		(2u << 30)
#define PUBLISHED_MASK		(PUBLISHED_COUNT - 1)

/* Targets that one scatter() writes to: a kernel parameter of 2 kB. */
#define MAX_TARGETS		64

/* A row that takes no part, beside bins 0 .. GS_MAX_BINS - 1. */
#define NO_BIN			0xffffu

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
	unsigned	nnodes;
	unsigned	root_shift;		/* digit of node 0 */
	unsigned	root_mask;
	unsigned	nbins;
	unsigned	bin_bits;		/* of the greatest bin number */
	uint64_t   *positions;
	const uint64_t *starts;		/* what positions were when the launch began */
	uint32_t   *published;		/* [tile][GS_MAX_BINS] */
	unsigned   *next_tile;
	unsigned	ntargets;
	scatter_target<Id> targets[MAX_TARGETS];
};

/* A block's shared memory. */
template <unsigned ITEMS, typename Id> struct scatter_shared
{
	static constexpr unsigned TILE = SCATTER_THREADS * ITEMS;

	uint64_t	keys[TILE];
	uint64_t	bin_begin[GS_MAX_BINS];	/* position of a bin's first row, less its
										 * rank in the tile */
	uint64_t   *bin_keys[GS_MAX_BINS];	/* address that rank 0 would have */
	Id		   *bin_ids[GS_MAX_BINS];
	uint32_t	warp_sums[GS_MAX_BINS / GS_WARP_THREADS];
	unsigned	tile;
	unsigned	split;			/* some run crosses the end of its target */
	unsigned	ranked;			/* rows that have a bin */
	uint16_t	numbers[TILE];	/* in the tile */
	uint16_t	counts[SCATTER_WARPS][GS_MAX_BINS];
	uint16_t	entries[SHARED_NODES][GS_DEVICE_DIGITS];
	uint8_t		bins[TILE];
};

/* Clear what the tiles publish, and remember where the bins begin. */
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

template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ unsigned
find_bin(const scatter_args<Id> &args, const scatter_shared<ITEMS, Id> &shared, uint64_t key)
{
	unsigned	entry = shared.entries[0][(unsigned) (key >> args.root_shift) & args.root_mask];

	while (entry & GS_TREE_NODE)
	{
		unsigned	node = entry & ~GS_TREE_NODE;
		unsigned	mask = (1u << args.tree->nodes[node].digit_bits) - 1;
		unsigned	digit = (unsigned) (key >> args.tree->nodes[node].digit_shift) & mask;

		entry = node < SHARED_NODES ? shared.entries[node][digit] : args.tree->entries[node][digit];
	}
	return entry == GS_BIN_NONE ? NO_BIN : entry;
}

/* Lanes of the warp that have the same bin, among those that have one. */
static __device__ __forceinline__ unsigned
lanes_of_bin(unsigned bin, unsigned bin_bits)
{
	unsigned	lanes = __ballot_sync(~0u, bin != NO_BIN);

	for (unsigned bit = 0; bit < bin_bits; bit++)
	{
		bool		set = (bin >> bit) & 1;
		unsigned	vote = __ballot_sync(~0u, set);

		lanes &= set ? vote : ~vote;
	}
	return lanes;
}

/*
 * Rank a warp's rows within each bin, in the order of rows: the thread's item i
 * is row i * 32 + lane of the warp.  Returns the bin in the upper half and the
 * rank in the lower; leaves the warp's count of each bin in counts[].
 */
template <unsigned ITEMS>
static __device__ __forceinline__ void
rank_in_warp(uint32_t (&ranked)[ITEMS], uint16_t *counts, unsigned bin_bits)
{
	unsigned	lane = threadIdx.x % GS_WARP_THREADS;
	unsigned	lanes_before = (1u << lane) - 1;

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	bin = ranked[i];
		unsigned	lanes = lanes_of_bin(bin, bin_bits);
		unsigned	before = __popc(lanes & lanes_before);
		unsigned	base = 0;

		if (bin != NO_BIN)
			base = counts[bin];
		__syncwarp();
		if (bin != NO_BIN && before == 0)
			counts[bin] = (uint16_t) (base + __popc(lanes));
		__syncwarp();
		ranked[i] = bin << 16 | (base + before);
	}
}

/* Exclusive sum over the threads of one value for each bin. */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ unsigned
sum_before_bin(scatter_shared<ITEMS, Id> &shared, unsigned count)
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

/* Rows of the bin in all earlier tiles. */
static __device__ __forceinline__ uint32_t
look_back(const uint32_t *published, unsigned tile, unsigned bin)
{
	uint32_t	sum = 0;

	while (tile > 0)
	{
		uint32_t	word = ((const volatile uint32_t *) published)
			[(uint64_t) (tile - 1) * GS_MAX_BINS + bin];

		if (word == 0)
			continue;
		sum += word & PUBLISHED_MASK;
		if (word & PUBLISHED_SUM)
			break;
		tile--;
	}
	return sum;
}

/* The target that holds a position, or NULL. */
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
 * Say where a bin's run, ranks [rank, rank + count) of the tile, goes: from
 * position `begin` on.
 */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
place_run(const scatter_args<Id> &args, scatter_shared<ITEMS, Id> &shared, unsigned bin,
		  uint64_t begin, unsigned rank, unsigned count)
{
	const scatter_target<Id> *target = find_target(args, begin);

	shared.bin_begin[bin] = begin - rank;
	if (target == nullptr || begin + count > target->end)
	{
		shared.split = 1;
		return;
	}
	shared.bin_keys[bin] = target->keys + (begin - target->begin) - rank;
	shared.bin_ids[bin] = target->ids + (begin - target->begin) - rank;
}

/* Write the tile's rows out, where every run stays in one target. */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
store_rows(const scatter_shared<ITEMS, Id> &shared, uint64_t first_row)
{
	for (unsigned rank = threadIdx.x; rank < shared.ranked; rank += SCATTER_THREADS)
	{
		unsigned	bin = shared.bins[rank];

		shared.bin_keys[bin][rank] = shared.keys[rank];
		shared.bin_ids[bin][rank] = (Id) (first_row + shared.numbers[rank]);
	}
}

/* The same, wherever they go. */
template <unsigned ITEMS, typename Id>
static __device__ void
store_split_rows(const scatter_args<Id> &args, const scatter_shared<ITEMS, Id> &shared,
				 uint64_t first_row)
{
	for (unsigned rank = threadIdx.x; rank < shared.ranked; rank += SCATTER_THREADS)
	{
		uint64_t	position = shared.bin_begin[shared.bins[rank]] + rank;
		const scatter_target<Id> *target = find_target(args, position);

		if (target == nullptr)
			continue;
		target->keys[position - target->begin] = shared.keys[rank];
		target->ids[position - target->begin] = (Id) (first_row + shared.numbers[rank]);
	}
}

/* Take a tile and clear what the last one left. */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
begin_tile(const scatter_args<Id> &args, scatter_shared<ITEMS, Id> &shared)
{
	uint32_t   *counts = reinterpret_cast<uint32_t *>(shared.counts);
	unsigned	nshared = min(args.nnodes, SHARED_NODES) * GS_DEVICE_DIGITS;

	if (threadIdx.x == 0)
	{
		shared.tile = atomicAdd(args.next_tile, 1);
		shared.split = 0;
	}
	for (unsigned i = threadIdx.x; i < sizeof(shared.counts) / sizeof(uint32_t);
		 i += SCATTER_THREADS)
		counts[i] = 0;
	for (unsigned i = threadIdx.x; i < nshared; i += SCATTER_THREADS)
		shared.entries[i / GS_DEVICE_DIGITS][i % GS_DEVICE_DIGITS] =
			args.tree->entries[i / GS_DEVICE_DIGITS][i % GS_DEVICE_DIGITS];
	__syncthreads();
}

/*
 * From each warp's count of a bin to the rank in the tile of its first row
 * there.  Publishes the tile's counts.  Returns, to the bin's thread, the bin's
 * first rank and its count.
 */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
rank_in_tile(const scatter_args<Id> &args, scatter_shared<ITEMS, Id> &shared, unsigned *first,
			 unsigned *count)
{
	unsigned	bin = threadIdx.x;
	unsigned	rank;

	*count = 0;
	if (bin < GS_MAX_BINS)
	{
		for (unsigned warp = 0; warp < SCATTER_WARPS; warp++)
			*count += shared.counts[warp][bin];
		((volatile uint32_t *) args.published)[(uint64_t) shared.tile * GS_MAX_BINS + bin] =
			(shared.tile == 0 ? PUBLISHED_SUM : PUBLISHED_COUNT) | *count;
	}
	*first = sum_before_bin(shared, *count);
	if (bin < GS_MAX_BINS)
	{
		rank = *first;
		for (unsigned warp = 0; warp < SCATTER_WARPS; warp++)
		{
			unsigned	of_warp = shared.counts[warp][bin];

			shared.counts[warp][bin] = (uint16_t) rank;
			rank += of_warp;
		}
		if (bin == GS_MAX_BINS - 1)
			shared.ranked = rank;
	}
}

/* Find out where the bin's run goes, and tell later tiles. */
template <unsigned ITEMS, typename Id>
static __device__ __forceinline__ void
place_bin(const scatter_args<Id> &args, scatter_shared<ITEMS, Id> &shared, unsigned first,
		  unsigned count)
{
	unsigned	bin = threadIdx.x;
	uint32_t	before = look_back(args.published, shared.tile, bin);

	if (shared.tile > 0)
		((volatile uint32_t *) args.published)[(uint64_t) shared.tile * GS_MAX_BINS + bin] =
			PUBLISHED_SUM | (before + count);
	if (shared.tile == args.ntiles - 1)
		args.positions[bin] = args.starts[bin] + before + count;
	if (count > 0)
		place_run(args, shared, bin, args.starts[bin] + before, first, count);
}

template <unsigned ITEMS, typename Id>
static __global__ void __launch_bounds__(SCATTER_THREADS, 2)
scatter_rows(const __grid_constant__ scatter_args<Id> args)
{
	extern __shared__ __align__(16) unsigned char shared_bytes[];
	auto	   &shared = *reinterpret_cast<scatter_shared<ITEMS, Id> *>(shared_bytes);
	unsigned	warp = threadIdx.x / GS_WARP_THREADS;
	unsigned	first_item = warp * GS_WARP_THREADS * ITEMS + threadIdx.x % GS_WARP_THREADS;
	uint64_t	keys[ITEMS];
	uint32_t	ranked[ITEMS];
	unsigned	first;
	unsigned	count;

	begin_tile(args, shared);
	gs_cuda_tile tile = find_tile<SCATTER_THREADS * ITEMS>(shared.tile, args.nrows);
	const uint64_t *words = segment_memory(args.keys.words, tile.segment, GS_SEGMENT_ROWS) +
		tile.first;

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	at = first_item + i * GS_WARP_THREADS;

		keys[i] = at < tile.count ? words[at] : 0;
	}
#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		keys[i] = key_of(args.keys, keys[i]);
		ranked[i] = first_item + i * GS_WARP_THREADS < tile.count ?
			find_bin(args, shared, keys[i]) : NO_BIN;
	}
	rank_in_warp<ITEMS>(ranked, shared.counts[warp], args.bin_bits);
	__syncthreads();
	rank_in_tile(args, shared, &first, &count);
	__syncthreads();

#pragma unroll
	for (unsigned i = 0; i < ITEMS; i++)
	{
		unsigned	bin = ranked[i] >> 16;

		if (bin != NO_BIN)
		{
			unsigned	rank = shared.counts[warp][bin] + (ranked[i] & 0xffff);

			shared.keys[rank] = keys[i];
			shared.numbers[rank] = (uint16_t) (first_item + i * GS_WARP_THREADS);
			shared.bins[rank] = (uint8_t) bin;
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

/* Does a block of the large tile fit into this GPU's shared memory? */
static bool
use_large_tile(const gs_cuda_device *device)
{
	return device->properties.sharedMemPerBlockOptin >= sizeof(scatter_shared<ITEMS_LARGE, uint64_t>);
}

static unsigned
scatter_tile_rows(const gs_cuda_device *device)
{
	return SCATTER_THREADS * (use_large_tile(device) ? ITEMS_LARGE : ITEMS_SMALL);
}

template <unsigned ITEMS, typename Id>
static gs_status
allow_shared(gs_cuda_device *device)
{
	GS_CUDA_TRY(device, cudaFuncSetAttribute(scatter_rows<ITEMS, Id>,
											 cudaFuncAttributeMaxDynamicSharedMemorySize,
											 (int) sizeof(scatter_shared<ITEMS, Id>)));
	return GS_OK;
}

gs_status
gs_cuda_scatter_open(gs_cuda_device *device)
{
	if (use_large_tile(device))
	{
		GS_CUDA_CHECK((allow_shared<ITEMS_LARGE, uint32_t>(device)));
		return allow_shared<ITEMS_LARGE, uint64_t>(device);
	}
	GS_CUDA_CHECK((allow_shared<ITEMS_SMALL, uint32_t>(device)));
	return allow_shared<ITEMS_SMALL, uint64_t>(device);
}

/* What scatter() keeps in the caller's temp. */
struct scatter_temp
{
	uint64_t	starts[GS_MAX_BINS];
	unsigned	next_tile;
	alignas(256) uint32_t published[];
};

static unsigned
bits_of(unsigned number)
{
	unsigned	bits = 0;

	for (; number > 0; number >>= 1)
		bits++;
	return bits;
}

template <typename Id>
static gs_status
launch_portion(gs_cuda_device *device, gs_queue queue, scatter_args<Id> &args,
			   scatter_temp *temp)
{
	cudaStream_t stream = device->streams[queue];
	uint64_t	nwords = args.ntiles * GS_MAX_BINS;

	prepare_scatter<<<gs_cuda_grid(device, nwords / 1024 + 1, 4), 256, 0, stream>>>(
		args.published, nwords, args.next_tile, temp->starts, args.positions, args.nbins);
	GS_CUDA_LAUNCHED(device, "prepare_scatter");
	if (use_large_tile(device))
		scatter_rows<ITEMS_LARGE, Id><<<(unsigned) args.ntiles, SCATTER_THREADS,
			sizeof(scatter_shared<ITEMS_LARGE, Id>), stream>>>(args);
	else
		scatter_rows<ITEMS_SMALL, Id><<<(unsigned) args.ntiles, SCATTER_THREADS,
			sizeof(scatter_shared<ITEMS_SMALL, Id>), stream>>>(args);
	return gs_cuda_launched(device, "scatter_rows");
}

/* Portion by portion, with arguments that lie in device memory already. */
template <typename Id>
static gs_status
launch_scatter(gs_cuda_device *device, gs_queue queue, const gs_scatter *scatter,
			   const gs_bin_tree *tree, gs_cuda_segments words)
{
	scatter_temp *temp = (scatter_temp *) scatter->temp;
	scatter_args<Id> args = {};

	args.keys = {words, scatter->keys.min, scatter->keys.shift};
	args.tree = tree;
	args.nnodes = scatter->tree->nnodes;
	args.root_shift = scatter->tree->nodes[0].digit_shift;
	args.root_mask = (1u << scatter->tree->nodes[0].digit_bits) - 1;
	args.nbins = scatter->tree->nbins;
	args.bin_bits = bits_of(args.nbins - 1);
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
		args.ntiles = count_tiles(args.nrows, scatter_tile_rows(device));
		if (words.table != nullptr)
			args.keys.words.table = words.table + segment;
		else
			args.keys.words.base = words.base + begin;
		GS_CUDA_CHECK(launch_portion(device, queue, args, temp));
	}
	return GS_OK;
}

/* Bytes of a tree up to its last node's entries. */
static size_t
tree_bytes(const gs_bin_tree *tree)
{
	return offsetof(gs_bin_tree, entries) + tree->nnodes * sizeof(tree->entries[0]);
}

static gs_status
scatter(gs_device *base, gs_queue queue, const gs_scatter *scatter)
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

static size_t
scatter_temp_bytes(gs_device *base, gs_rows rows)
{
	uint64_t	nrows = std::min(rows.nrows, PORTION_SEGMENTS * GS_SEGMENT_ROWS);

	return sizeof(scatter_temp) +
		count_tiles(nrows, scatter_tile_rows(gs_cuda(base))) * GS_MAX_BINS * sizeof(uint32_t);
}

void
gs_cuda_add_scatter_ops(gs_device_ops *ops)
{
	ops->scatter = scatter;
	ops->scatter_temp_bytes = scatter_temp_bytes;
}
