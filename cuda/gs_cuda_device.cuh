/*
 * gs_cuda_device.cuh
 *		The struct of a CUDA device, and what all operations need: errors and launches.
 *
 * cuda_device.cu opens devices and owns what they have, cuda_queue.cu has streams and events,
 * cuda_table.cu brings small arguments to the device, cuda_trace.cu records spans; the other files
 * have operations.
 *
 * Every operation begins with GS_CUDA_ENTER, which selects the GPU, and checks
 * each call of CUDA with GS_CUDA_TRY and each kernel launch with
 * GS_CUDA_LAUNCHED.  A failure clears CUDA's sticky error, leaves a sentence in
 * device->error and, where the context is beyond use, marks the device as lost.
 */
#ifndef GS_CUDA_DEVICE_CUH
#define GS_CUDA_DEVICE_CUH

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

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

/* Add each file's entries to the table of operations. */
extern void gs_cuda_add_queue_ops(gs_device_ops *ops);
extern void gs_cuda_add_copy_ops(gs_device_ops *ops);
extern void gs_cuda_add_trace_ops(gs_device_ops *ops);
extern void gs_cuda_add_stats_ops(gs_device_ops *ops);
extern void gs_cuda_add_pack_ops(gs_device_ops *ops);
extern void gs_cuda_add_histogram_ops(gs_device_ops *ops);
extern void gs_cuda_add_scatter_ops(gs_device_ops *ops);
extern void gs_cuda_add_sort_ops(gs_device_ops *ops);
extern void gs_cuda_add_runs_ops(gs_device_ops *ops);
extern void gs_cuda_add_ties_ops(gs_device_ops *ops);
extern void gs_cuda_add_ids_ops(gs_device_ops *ops);
extern void gs_cuda_add_check_ops(gs_device_ops *ops);
extern void gs_cuda_add_rows_ops(gs_device_ops *ops);
extern void gs_cuda_add_fields_ops(gs_device_ops *ops);

#endif							/* GS_CUDA_DEVICE_CUH */
