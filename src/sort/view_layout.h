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

/* A part of list[], and the bytes of it that are used. */
typedef struct SharedPiece
{
	uint32		first;
	uint32		count;
	size_t		bytes;
	size_t		offset;	/* where the contents begin, counted from the first extent's begin */
} SharedPiece;

struct GpuSortSharedView
{
	GpuSortView view;			/* its pointers are not valid */
	SharedPiece	pieces[GPUSORT_VIEW_PIECES];
	/* numbers of extents, each once; the granules' offsets follow */
	uint32		list[FLEXIBLE_ARRAY_MEMBER];
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
