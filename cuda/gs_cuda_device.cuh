/*
 * gs_cuda_device.cuh
 *		The struct of a CUDA device, and what operations have in common.
 */
#ifndef GS_CUDA_DEVICE_CUH
#define GS_CUDA_DEVICE_CUH

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------- device: its struct, errors and launches ---------- */

/*
 * cuda_device.cu opens devices and owns what they have, cuda_queue.cu has streams and events,
 * cuda_table.cu brings small arguments to the device, cuda_trace.cu records spans; the other files
 * have operations.
 *
 * Every operation begins with GS_CUDA_ENTER, which selects the GPU, and checks
 * each call of CUDA with GS_CUDA_TRY and each kernel launch with
 * GS_CUDA_LAUNCHED.  A failure clears CUDA's last error, leaves a sentence in
 * device->error and, where the context is beyond use, marks the device as lost.
 */

extern "C"
{
#include "engine/device/gs_arena.h"
#include "gs_cuda.h"
}

/* How many spans one trace holds; a job of 8 planes and 256 buckets has some 1,000. */
#define GS_CUDA_MAX_SPANS	4096

/* So many sections of a ring are in flight before a caller has to wait, see cuda_table.cu. */
#define GS_CUDA_RING_MARKS	16

struct gs_event
{
	cudaEvent_t event;
	gs_event   *next;			/* in the device's list of live events, or of idle ones */
	gs_event   *previous;		/* in the list of live events */
};

/* Staging memory for the small arguments of one queue's kernels. */
struct gs_cuda_ring
{
	unsigned char *host;		/* pinned memory */
	unsigned char *device;
	uint64_t	head;			/* bytes ever reserved */
	uint64_t	tail;			/* bytes known to be free again */
	uint64_t	marked;			/* head at the last mark */
	unsigned	first_mark;		/* marks in flight, oldest first */
	unsigned	nmarks;
	uint64_t	mark_heads[GS_CUDA_RING_MARKS];
	cudaEvent_t mark_events[GS_CUDA_RING_MARKS];
};

struct gs_cuda_span
{
	const char *name;
	gs_queue	queue;
	bool		ended;
	cudaEvent_t begin;
	cudaEvent_t end;
};

struct gs_cuda_trace
{
	bool		kept;			/* a trace is kept; else spans are not recorded */
	unsigned	nspans;
	unsigned	nevents;		/* how many spans have their two events */
	int			open[GS_QUEUES];	/* the span that has begun on each queue, or -1 */
	cudaStream_t stream;		/* stream that has only the origin */
	cudaEvent_t origin;
	double		origin_ms;		/* host clock at the origin */
	gs_cuda_span spans[GS_CUDA_MAX_SPANS];
};

struct gs_cuda_device
{
	gs_device	base;			/* must be the first field */
	int			cuda_device;
	gs_cuda_device *parent;		/* of a lane, the device whose arena memory it has; else NULL */
	bool		lost;
	uint32_t	peers;			/* bit i is set if it can write to device i of the group */
	cudaDeviceProp properties;

	void	   *arena_memory;
	size_t		arena_bytes;
	gs_arena   *arena;

	cudaStream_t streams[GS_QUEUES];
	gs_event   *live_events;
	gs_event   *idle_events;
	uint64_t	ring_bytes;
	gs_cuda_ring rings[GS_QUEUES];
	/* pinned; for the numbers that find_ties() and place_rows() wait for */
	uint64_t   *answer;
	gs_cuda_trace trace;
};

static inline gs_cuda_device *
gs_cuda(gs_device *device)
{
	return reinterpret_cast<gs_cuda_device *>(device);
}

/* Notes that a call of CUDA has failed; returns the status to hand on. */
extern gs_status gs_cuda_failed(gs_cuda_device *device, cudaError_t error, const char *what);

/* Notes an error that is not CUDA's; returns status. */
extern gs_status gs_cuda_refused(gs_cuda_device *device, gs_status status, const char *why);

/* Selects the device's GPU. */
extern gs_status gs_cuda_enter(gs_cuda_device *device);

#define GS_CUDA_TRY(device, call) \
	do { \
		cudaError_t error_ = (call); \
		if (error_ != cudaSuccess) \
			return gs_cuda_failed((device), error_, #call); \
	} while (0)

#define GS_CUDA_CHECK(status_call) \
	do { \
		gs_status status_ = (status_call); \
		if (status_ != GS_OK) \
			return status_; \
	} while (0)

#define GS_CUDA_ENTER(device)	GS_CUDA_CHECK(gs_cuda_enter(device))

/* Returns the status of a kernel launch, as the last statement of an operation. */
static inline gs_status
gs_cuda_launched(gs_cuda_device *device, const char *kernel)
{
	cudaError_t error = cudaGetLastError();

	return error == cudaSuccess ? GS_OK : gs_cuda_failed(device, error, kernel);
}

#define GS_CUDA_LAUNCHED(device, kernel) GS_CUDA_CHECK(gs_cuda_launched((device), (kernel)))

/* Returns how many blocks a grid has whose threads stride over `work` blocks' worth of work. */
static inline unsigned
gs_cuda_grid(const gs_cuda_device *device, uint64_t work, unsigned blocks_per_sm)
{
	uint64_t	most = (uint64_t) device->properties.multiProcessorCount * blocks_per_sm;

	return (unsigned) (work < most ? work : most);
}

/* Open and close the parts of a device that have a file of their own. */
extern gs_status gs_cuda_queues_open(gs_cuda_device *device);
extern void gs_cuda_queues_close(gs_cuda_device *device);
extern gs_status gs_cuda_rings_open(gs_cuda_device *device);
extern void gs_cuda_rings_close(gs_cuda_device *device);
extern void gs_cuda_rings_reset(gs_cuda_device *device);
extern gs_status gs_cuda_trace_open(gs_cuda_device *device);
extern void gs_cuda_trace_close(gs_cuda_device *device);
extern gs_status gs_cuda_trace_reset(gs_cuda_device *device);
extern gs_status gs_cuda_scatter_open(gs_cuda_device *device);
extern double gs_cuda_clock_ms(void);
extern size_t gs_cuda_runs_temp_bytes(void);

/* Add the entries of queues, events and traces to the table of operations. */
extern void gs_cuda_add_queue_ops(gs_device_ops *ops);
extern void gs_cuda_add_trace_ops(gs_device_ops *ops);

/* These are called through the table, too. */
extern gs_status gs_cuda_host_register(gs_device *base, void *memory, size_t bytes);
extern void gs_cuda_host_unregister(gs_device *base, void *memory);
extern gs_status gs_cuda_sort(gs_device *base, gs_queue queue, gs_pairs pairs, gs_pairs spare,
							  unsigned id_bytes, uint64_t nrows, unsigned low_bit, unsigned bits,
							  void *temp, bool *in_spare);
#define GS_OPERATION(name, ...) \
extern gs_status gs_cuda_##name(gs_device *base, gs_queue queue GS_MAP(GS_PARAMETER, __VA_ARGS__));
#define GS_TEMP_BYTES(name, ...) \
extern size_t gs_cuda_##name(gs_device *base GS_MAP(GS_PARAMETER, __VA_ARGS__));
#include "engine/device/gs_operation_list.h"

/* ---------- table: how kernels are told where rows are, and other small arguments ---------- */

/*
 * The engine names memory by a pointer for each segment.  Mostly the segments lie one behind the
 * other, or there is but one: then a base address says it all, and is passed as a kernel parameter.
 * Otherwise the pointers are staged in a table, see cuda_table.cu.
 */

#define GS_SEGMENT_NULL_WORDS	(GS_SEGMENT_ROWS / 64)

/* Memory by segment; `table` is NULL if the segments are one array at `base`. */
struct gs_cuda_segments
{
	uint64_t   *base;
	uint64_t   *const *table;
};

/* Returns a segment's memory; segment_words is the number of words of a full segment. */
static __device__ __forceinline__ uint64_t *
segment_memory(gs_cuda_segments segments, uint64_t segment, uint64_t segment_words)
{
	if (segments.table == nullptr)
		return segments.base + segment * segment_words;
	return segments.table[segment];
}

/*
 * Arguments that are being staged for one kernel.  An operation reserves room for all of them,
 * stages them, sends them, and launches the kernel on the same queue.
 */
struct gs_cuda_staging
{
	unsigned char *host;		/* where the next argument goes */
	unsigned char *device;
	size_t		bytes;			/* how many bytes are reserved */
	size_t		used;
};

/*
 * Returns how many bytes gs_cuda_stage() takes of those reserved, for an argument of so many bytes.
 */
static inline size_t
gs_cuda_staged_bytes(size_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

extern gs_status gs_cuda_reserve(gs_cuda_device *device, gs_queue queue, size_t bytes,
								 gs_cuda_staging *staging);
extern void *gs_cuda_stage(gs_cuda_staging *staging, const void *from, size_t bytes);
extern gs_status gs_cuda_send(gs_cuda_device *device, gs_queue queue, gs_cuda_staging *staging);

/*
 * gs_cuda_segments_bytes() returns the bytes to reserve for pointers by segment, 0 if they need no
 * table.  gs_cuda_stage_segments() stages them, and returns them in the form that kernels take.
 */
extern size_t gs_cuda_segments_bytes(const uint64_t *const *pointers, uint64_t nsegments,
									 uint64_t segment_words);
extern gs_cuda_segments gs_cuda_stage_segments(gs_cuda_staging *staging,
											   const uint64_t *const *pointers,
											   uint64_t nsegments, uint64_t segment_words);

/* Does all of it in the common case of one kernel that has one table of pointers by segment. */
extern gs_status gs_cuda_send_segments(gs_cuda_device *device, gs_queue queue,
									   const uint64_t *const *pointers, uint64_t nsegments,
									   gs_cuda_segments *segments);

/* ---------- rows: how kernels walk over them, in tiles ---------- */

/*
 * A tile is what a thread block works on at a time.  A segment is cut into full
 * tiles and a shorter last one; tiles are numbered in the order of rows.
 */

#define GS_WARP_THREADS	32u

/* Rows [first, first + count) of a segment. */
struct gs_cuda_tile
{
	uint64_t	segment;
	unsigned	first;
	unsigned	count;
};

static constexpr __host__ __device__ unsigned
tiles_per_segment(unsigned tile_rows)
{
	return (unsigned) ((GS_SEGMENT_ROWS + tile_rows - 1) / tile_rows);
}

static inline uint64_t
count_tiles(uint64_t nrows, unsigned tile_rows)
{
	uint64_t	rest = nrows % GS_SEGMENT_ROWS;

	return nrows / GS_SEGMENT_ROWS * tiles_per_segment(tile_rows) +
		(rest + tile_rows - 1) / tile_rows;
}

template <unsigned TILE_ROWS>
static __device__ __forceinline__ gs_cuda_tile
find_tile(uint64_t tile_number, uint64_t nrows)
{
	gs_cuda_tile tile;
	uint64_t	left;

	tile.segment = tile_number / tiles_per_segment(TILE_ROWS);
	tile.first = (unsigned) (tile_number % tiles_per_segment(TILE_ROWS)) * TILE_ROWS;
	left = nrows - tile.segment * GS_SEGMENT_ROWS;
	if (left > GS_SEGMENT_ROWS)
		left = GS_SEGMENT_ROWS;
	left -= tile.first;
	tile.count = left < TILE_ROWS ? (unsigned) left : TILE_ROWS;
	return tile;
}

static __device__ __forceinline__ bool
row_is_null(const uint64_t *nulls, unsigned row)
{
	return (nulls[row >> 6] >> (row & 63)) & 1;
}

/* Where keys are found, see gs_keys. */
struct gs_cuda_keys
{
	gs_cuda_segments words;
	uint64_t	min;
	unsigned	shift;
};

static __device__ __forceinline__ uint64_t
key_of(const gs_cuda_keys &keys, uint64_t word)
{
	return (word - keys.min) >> keys.shift;
}

/* ---------- section: how kernels read its bits out of planes ---------- */

/* What a kernel needs of a gs_piece. */
struct gs_cuda_piece
{
	gs_cuda_segments words;
	gs_cuda_segments nulls;
	const gs_numbering *numbering;	/* device memory; NULL: words are taken as they are */
	uint64_t	min;
	uint64_t	mask;
	unsigned	shift;			/* how far a word is shifted down to the piece */
	unsigned	width;
	bool		is_null_flag;
	bool		nullable;
	uint64_t	flag_invert;
};

/* A section's pieces, in device memory. */
struct gs_cuda_section
{
	const gs_cuda_piece *pieces;
	unsigned	npieces;
	unsigned	width;
};

/*
 * Returns the bits of a piece of one row of a segment.  The table of a numbering is small enough
 * for the first-level cache.
 */
static __device__ __forceinline__ uint64_t
piece_bits(const gs_cuda_piece &piece, const uint64_t *words, const uint64_t *nulls, unsigned row)
{
	uint64_t	word;

	if (piece.is_null_flag)
		return (row_is_null(nulls, row) ? 1 : 0) ^ piece.flag_invert;
	if (piece.nullable && row_is_null(nulls, row))
		return 0;
	word = words[row];
	if (piece.numbering != nullptr)
		word = gs_number(piece.numbering, word);
	return ((word - piece.min) >> piece.shift) & piece.mask;
}

/*
 * gs_cuda_section_bytes() returns the bytes to reserve for a section, and gs_cuda_stage_section()
 * stages it for a kernel.  planes[i] belongs to section->pieces[i].
 */
extern size_t gs_cuda_section_bytes(const gs_section *section, const gs_plane_rows *planes,
									uint64_t nsegments);
extern gs_cuda_section gs_cuda_stage_section(gs_cuda_staging *staging, const gs_section *section,
											 const gs_plane_rows *planes, uint64_t nsegments);

#endif							/* GS_CUDA_DEVICE_CUH */
