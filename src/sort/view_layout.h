/*
 * view_layout.h
 *		A view of a sort in shared memory.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_VIEW_LAYOUT_H
#define GPUSORT_VIEW_LAYOUT_H

#include "storage/shmem.h"

#include "memory/pool.h"
#include "sort/sort_view.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* A stretch of list[], and the bytes of it that are used. */
typedef struct SharedPiece
{
	uint32		first;
	uint32		count;
	size_t		bytes;
	size_t		offset;			/* where its contents begin */
} SharedPiece;

struct GpuSortSharedView
{
	GpuSortView view;			/* pointers are not valid */
	SharedPiece	pieces[GPUSORT_VIEW_PIECES];
	uint32		list[FLEXIBLE_ARRAY_MEMBER];	/* extents, no one twice; behind them
												 * the granules' offsets */
};

static inline Size
shared_list_bytes(void)
{
	return MAXALIGN(offsetof(GpuSortSharedView, list) +
					mul_size(gpusort_pool->header->nextents, sizeof(uint32)));
}

static inline size_t *
shared_offsets(const GpuSortSharedView *shared)
{
	return (size_t *) ((char *) shared + shared_list_bytes());
}

#endif							/* GPUSORT_VIEW_LAYOUT_H */
