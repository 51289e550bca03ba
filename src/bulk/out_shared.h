/*
 * out_shared.h
 *		What the processes that write rows together have in common.
 *
 * The leader has the worker's function, which is in out_worker.c, called by its name.
 */
#ifndef GPUSORT_OUT_SHARED_H
#define GPUSORT_OUT_SHARED_H

#include "port/atomics.h"

#include "bulk/out_format.h"
#include "bulk/out_source.h"

#define GPUSORT_OUT_WORKER			"gpusort_out_worker"

/* Keys of the shared memory's pieces. */
#define GPUSORT_OUT_KEY_TASK		UINT64CONST(0x4753000000000201)
#define GPUSORT_OUT_KEY_COLUMNS		UINT64CONST(0x4753000000000202)
#define GPUSORT_OUT_KEY_DESC		UINT64CONST(0x4753000000000203)
#define GPUSORT_OUT_KEY_VIEW		UINT64CONST(0x4753000000000204)
#define GPUSORT_OUT_KEY_QUEUES		UINT64CONST(0x4753000000000205)

/*
 * A worker's queue: so far it may be ahead of the leader, which has not read what others have
 * written before.
 */
#define GPUSORT_OUT_QUEUE_BYTES		(1024 * 1024)

/* Rows are passed on when they are so many bytes: a core's cache has room for them. */
#define GPUSORT_OUT_PIECE_BYTES		(64 * 1024)

typedef struct GpuSortOutTask
{
	GpuSortOutSlices slices;
	GpuSortOutFormat format;
	pg_atomic_uint64 next_slice;	/* that nobody has taken */
	pg_atomic_uint32 written;	/* all is: who has failed may say so */
} GpuSortOutTask;

/* In front of the bytes of some rows of a slice. */
typedef struct GpuSortOutPiece
{
	uint64		slice;
	uint32		rows;
	bool		last;			/* of the slice */
	bool		left;			/* ... the rest of which is left to the leader */
} GpuSortOutPiece;

/* Take the next slice; false if there is none. */
static inline bool
gpusort_out_take_slice(GpuSortOutTask *task, uint64 *slice)
{
	*slice = pg_atomic_fetch_add_u64(&task->next_slice, 1);
	return *slice < gpusort_out_slice_count(&task->slices);
}

#endif							/* GPUSORT_OUT_SHARED_H */
