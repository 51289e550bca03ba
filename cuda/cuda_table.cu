/*
 * cuda_table.cu
 *		Staging of small arguments: tables of pointers, bin trees, pieces of keys.
 *
 * Each queue has a ring of pinned host memory and one of device memory of the same size.  An
 * operation reserves a stretch, fills the host's copy and sends it: a kernel on the queue fetches
 * the stretch from the host, since a copy would stand in the copy engine's line behind megabytes of
 * uploads.
 *
 * A stretch may be overwritten once the kernels that read it are done.  As these run on the ring's
 * own queue, an event recorded there covers everything reserved before: a *mark*.  Marks are set
 * once a sixteenth of the ring has been used since the last one, and waited for only when the ring
 * is full.
 *
 * A ring of 4 MB holds 500,000 pointers: for a plane of 2^37 rows, or 60 planes of 2^31.  Lanes
 * have 512 kB, enough for some bin trees.  An operation whose arguments do not fit is refused with
 * GS_NO_SPACE.
 */
#include <string.h>

#include "gs_cuda_device.cuh"

#define RING_BYTES		(UINT64_C(4) << 20)
#define LANE_RING_BYTES	(UINT64_C(512) << 10)
#define RING_ALIGNMENT	UINT64_C(256)
#define FETCH_THREADS	256

static __global__ void
fetch_words(uint4 *to, const uint4 *from, unsigned count)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = from[i];
}

gs_status
gs_cuda_rings_open(gs_cuda_device *device)
{
	device->ring_bytes = device->parent != nullptr ? LANE_RING_BYTES : RING_BYTES;
	for (gs_cuda_ring &ring : device->rings)
	{
		GS_CUDA_TRY(device, cudaHostAlloc((void **) &ring.host, device->ring_bytes,
										  cudaHostAllocMapped | cudaHostAllocPortable));
		GS_CUDA_TRY(device, cudaMalloc((void **) &ring.device, device->ring_bytes));
		for (cudaEvent_t &event : ring.mark_events)
			GS_CUDA_TRY(device, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	}
	return GS_OK;
}

void
gs_cuda_rings_close(gs_cuda_device *device)
{
	for (gs_cuda_ring &ring : device->rings)
	{
		for (cudaEvent_t event : ring.mark_events)
			if (event != nullptr)
				(void) cudaEventDestroy(event);
		if (ring.device != nullptr)
			(void) cudaFree(ring.device);
		if (ring.host != nullptr)
			(void) cudaFreeHost(ring.host);
	}
}

/* Empties the rings; nothing may be running any more. */
void
gs_cuda_rings_reset(gs_cuda_device *device)
{
	for (gs_cuda_ring &ring : device->rings)
	{
		ring.head = ring.tail = ring.marked = 0;
		ring.first_mark = ring.nmarks = 0;
	}
}

/* Frees everything up to the oldest mark, after waiting for it. */
static gs_status
pass_oldest_mark(gs_cuda_device *device, gs_cuda_ring *ring)
{
	GS_CUDA_TRY(device, cudaEventSynchronize(ring->mark_events[ring->first_mark]));
	ring->tail = ring->mark_heads[ring->first_mark];
	ring->first_mark = (ring->first_mark + 1) % GS_CUDA_RING_MARKS;
	ring->nmarks--;
	return GS_OK;
}

static gs_status
set_mark(gs_cuda_device *device, gs_queue queue)
{
	gs_cuda_ring *ring = &device->rings[queue];
	unsigned	mark;

	if (ring->nmarks == GS_CUDA_RING_MARKS)
		GS_CUDA_CHECK(pass_oldest_mark(device, ring));
	mark = (ring->first_mark + ring->nmarks) % GS_CUDA_RING_MARKS;
	GS_CUDA_TRY(device, cudaEventRecord(ring->mark_events[mark], device->streams[queue]));
	ring->mark_heads[mark] = ring->head;
	ring->marked = ring->head;
	ring->nmarks++;
	return GS_OK;
}

/*
 * Reserves room for so many bytes on the queue's ring.  It is called once for each kernel that
 * reads them, since a mark that is set by the next call stands for whatever was launched before it.
 */
gs_status
gs_cuda_reserve(gs_cuda_device *device, gs_queue queue, size_t bytes, gs_cuda_staging *staging)
{
	gs_cuda_ring *ring = &device->rings[queue];
	const uint64_t ring_bytes = device->ring_bytes;
	uint64_t	begin;
	uint64_t	end;

	if (bytes > ring_bytes)
		return gs_cuda_refused(device, GS_NO_SPACE, "too many segments for the staging ring");
	if (ring->head - ring->marked >= ring_bytes / GS_CUDA_RING_MARKS)
		GS_CUDA_CHECK(set_mark(device, queue));

	begin = (ring->head + RING_ALIGNMENT - 1) / RING_ALIGNMENT * RING_ALIGNMENT;
	if (begin % ring_bytes + bytes > ring_bytes)
		begin = (begin / ring_bytes + 1) * ring_bytes;
	end = begin + bytes;
	if (end - ring->tail > ring_bytes && ring->marked < ring->head)
		GS_CUDA_CHECK(set_mark(device, queue));
	while (end - ring->tail > ring_bytes && ring->nmarks > 0)
		GS_CUDA_CHECK(pass_oldest_mark(device, ring));
	if (ring->nmarks == 0 && ring->marked == ring->head)
		ring->tail = begin;		/* nothing is in flight */

	ring->head = end;
	*staging = {};
	staging->host = ring->host + begin % ring_bytes;
	staging->device = ring->device + begin % ring_bytes;
	staging->bytes = bytes;
	return GS_OK;
}

/* Copies one argument, and returns where kernels will find it. */
void *
gs_cuda_stage(gs_cuda_staging *staging, const void *from, size_t bytes)
{
	void	   *to = staging->device + staging->used;

	memcpy(staging->host + staging->used, from, bytes);
	staging->used += gs_cuda_staged_bytes(bytes);
	return to;
}

gs_status
gs_cuda_send(gs_cuda_device *device, gs_queue queue, gs_cuda_staging *staging)
{
	unsigned	count = (unsigned) (staging->used / sizeof(uint4));

	if (count == 0)
		return GS_OK;
	fetch_words<<<gs_cuda_grid(device, (count + FETCH_THREADS - 1) / FETCH_THREADS, 1),
		FETCH_THREADS, 0, device->streams[queue]>>>((uint4 *) staging->device,
													(const uint4 *) staging->host, count);
	return gs_cuda_launched(device, "fetch_words");
}

static bool
segments_adjoin(const uint64_t *const *pointers, uint64_t nsegments, uint64_t segment_words)
{
	for (uint64_t i = 1; i < nsegments; i++)
		if (pointers[i] != pointers[i - 1] + segment_words)
			return false;
	return true;
}

size_t
gs_cuda_segments_bytes(const uint64_t *const *pointers, uint64_t nsegments, uint64_t segment_words)
{
	if (pointers == nullptr || segments_adjoin(pointers, nsegments, segment_words))
		return 0;
	return gs_cuda_staged_bytes(nsegments * sizeof(*pointers));
}

gs_cuda_segments
gs_cuda_stage_segments(gs_cuda_staging *staging, const uint64_t *const *pointers,
					   uint64_t nsegments, uint64_t segment_words)
{
	gs_cuda_segments segments = {};

	if (pointers == nullptr)
		return segments;
	if (segments_adjoin(pointers, nsegments, segment_words))
		segments.base = const_cast<uint64_t *>(pointers[0]);
	else
		segments.table = (uint64_t *const *) gs_cuda_stage(staging, pointers,
														   nsegments * sizeof(*pointers));
	return segments;
}

gs_status
gs_cuda_send_segments(gs_cuda_device *device, gs_queue queue, const uint64_t *const *pointers,
					  uint64_t nsegments, gs_cuda_segments *segments)
{
	gs_cuda_staging staging;
	size_t		bytes = gs_cuda_segments_bytes(pointers, nsegments, GS_SEGMENT_ROWS);

	GS_CUDA_CHECK(gs_cuda_reserve(device, queue, bytes, &staging));
	*segments = gs_cuda_stage_segments(&staging, pointers, nsegments, GS_SEGMENT_ROWS);
	return gs_cuda_send(device, queue, &staging);
}
