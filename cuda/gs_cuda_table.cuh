/*
 * gs_cuda_table.cuh
 *		How kernels are told where rows are, and other small arguments.
 *
 * The engine names memory by a pointer for each segment.  Mostly the segments lie one behind the
 * other, or there is but one: then a base address says it all, and is passed as a kernel parameter.
 * Otherwise the pointers are staged in a table, see cuda_table.cu.
 */
#ifndef GS_CUDA_TABLE_CUH
#define GS_CUDA_TABLE_CUH

#include "gs_cuda_device.cuh"

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

#endif							/* GS_CUDA_TABLE_CUH */
