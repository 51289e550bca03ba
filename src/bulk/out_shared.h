/*
 * out_shared.h
 *		What the processes that write rows together have in common.
 *
 * The leader starts the workers by the name of their function, which is in out_worker.c.
 */
#ifndef GPUSORT_OUT_SHARED_H
#define GPUSORT_OUT_SHARED_H

#include "port/atomics.h"

#include "bulk/out_format.h"
#include "bulk/out_source.h"

#define GPUSORT_OUT_WORKER			"gpusort_out_worker"

/* Keys of the chunks of the shared memory. */
#define GPUSORT_OUT_KEY_TASK		UINT64CONST(0x4753000000000201)
#define GPUSORT_OUT_KEY_COLUMNS		UINT64CONST(0x4753000000000202)
#define GPUSORT_OUT_KEY_DESC		UINT64CONST(0x4753000000000203)
#define GPUSORT_OUT_KEY_VIEW		UINT64CONST(0x4753000000000204)
#define GPUSORT_OUT_KEY_QUEUES		UINT64CONST(0x4753000000000205)

/*
 * Size of a worker's queue.  So far a worker may be ahead of the leader, while the leader is busy
 * with slices of other workers.
 */
#define GPUSORT_OUT_QUEUE_BYTES		(1024 * 1024)

/*
 * A worker sends a piece of rows to the leader when the rows have so many bytes, which fit into a
 * core's cache.
 */
#define GPUSORT_OUT_PIECE_BYTES		(64 * 1024)

typedef struct GpuSortOutTask
{
	GpuSortOutSlices slices;
	GpuSortOutFormat format;
	pg_atomic_uint64 next_slice;	/* first slice that no process has taken */
	/* not 0 when all rows are written, and workers that have failed may raise their errors */
	pg_atomic_uint32 written;
} GpuSortOutTask;

/* The header of a piece, which is some rows of a slice.  The rows' bytes follow. */
typedef struct GpuSortOutPiece
{
	uint64		slice;
	uint32		rows;
	bool		last;			/* this is the slice's last piece */
	bool		left;			/* the rest of the slice is left to the leader */
} GpuSortOutPiece;

/* Take the next slice.  Returns false if there is none left. */
static inline bool
gpusort_out_take_slice(GpuSortOutTask *task, uint64 *slice)
{
	*slice = pg_atomic_fetch_add_u64(&task->next_slice, 1);
	return *slice < gpusort_out_slice_count(&task->slices);
}

#endif							/* GPUSORT_OUT_SHARED_H */
