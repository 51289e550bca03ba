/*
 * sort_view.c
 *		The result of a sort, to be read by several processes at once; see
 *		sort_view.h.
 *
 * The extents of a part are mapped one behind the other, since rows cross their
 * ends, neighbours in the pool with one call.  Rows are read all over the store, so
 * its pages are mapped in advance by one call, which is an order of magnitude
 * cheaper than a fault for each, unless they are huge anyway (range_extents.c has
 * figures).  The order and the bitmap are read from front to back, a process its
 * slices only: faults do for those.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "memory/pool.h"
#include "sort/sort_fetch.h"
#include "sort/sort_internal.h"
#include "sort/sort_view.h"

/* asm-generic/mman-common.h, which may be older than the kernel */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* A stretch of list[], and the bytes of it that are used. */
typedef struct SharedPart
{
	uint32		first;
	uint32		count;
	size_t		bytes;
	size_t		offset;			/* where its contents begin */
} SharedPart;

struct GpuSortSharedView
{
	GpuSortView view;			/* pointers are not valid */
	SharedPart	parts[GPUSORT_VIEW_PARTS];
	uint32		list[FLEXIBLE_ARRAY_MEMBER];	/* extents, no one twice; behind them
												 * the granules' offsets */
};

static Size
list_bytes(void)
{
	return MAXALIGN(offsetof(GpuSortSharedView, list) +
					mul_size(gpusort_pool->header->nextents, sizeof(uint32)));
}

static size_t *
shared_offsets(const GpuSortSharedView *shared)
{
	return (size_t *) ((char *) shared + list_bytes());
}

/* Do all rows lie in order? */
static bool
all_reordered(const GpuSort *sort)
{
	return sort->nrows > 0 && sort->reordered == sort->nrows;
}

void
gpusort_view(GpuSort *sort, GpuSortView *view)
{
	const GpuSortRange *row_refs = sort->uniform ? NULL : sort->row_refs;

	Assert(sort->order != NULL && sort->tuplesort == NULL);
	if (sort->ready < sort->nrows)
		gpusort_service_await(sort, sort->nrows);
	gpusort_reorder_finish(sort);
	view->rows = sort->rows->base;
	view->granule_rows = sort->granule_rows;
	view->granule_shift = GRANULE_SHIFT;
	view->granule_offsets = sort->granule_offsets;
	view->order = sort->order;
	if (all_reordered(sort))
	{
		row_refs = sort->sorted_refs;
		view->rows = sort->sorted_rows->base;
		view->granule_rows = 0;
		view->order = NULL;
	}
	view->row_refs = row_refs == NULL ? NULL : RANGE_U32(row_refs);
	view->equal = sort->index_rows ? RANGE_U64(sort->equal) : NULL;
	view->nrows = sort->nrows;
	view->row_unit = sort->row_unit;
	view->stride = sort->stride;
	view->row_bytes = gpusort_row_bytes(sort);
	view->tuple_bytes = sort->index_rows && sort->template != NULL && !sort->other_lengths ?
		sort->template_len : 0;
}

Size
gpusort_shared_view_bytes(void)
{
	if (gpusort_pool == NULL)
		return 0;
	/* a granule has an extent of references, if not more */
	return add_size(list_bytes(), mul_size(gpusort_pool->header->nextents, sizeof(size_t)));
}

/* Where the parts of the sort's view lie. */
static void
find_ranges(const GpuSort *sort, GpuSortRange *ranges[GPUSORT_VIEW_PARTS])
{
	bool		reordered = all_reordered(sort);
	bool		refined = sort->refined != NULL && sort->order == RANGE_U32(sort->refined);

	ranges[GPUSORT_VIEW_ROWS] = reordered ? sort->sorted_rows : sort->rows;
	ranges[GPUSORT_VIEW_ROW_REFS] = reordered ? sort->sorted_refs : sort->row_refs;
	ranges[GPUSORT_VIEW_ORDER] = refined ? sort->refined : sort->workspace;
	ranges[GPUSORT_VIEW_EQUAL] = sort->equal;
}

/* Add a part; false if it is private memory. */
static bool
publish_part(GpuSortSharedView *shared, GpuSortViewPart number, const GpuSortRange *range,
			 const void *start, size_t bytes)
{
	SharedPart *part = &shared->parts[number];
	const uint32 *extents;
	uint32		count;

	part->first = number == 0 ? 0 : part[-1].first + part[-1].count;
	part->count = 0;
	if (start == NULL || bytes == 0)
		return true;
	if (!gpusort_range_extents(range, &extents, &count))
		return false;
	part->offset = (const char *) start - range->base;
	part->bytes = part->offset + bytes;
	part->count = (part->bytes + EXTENT_BYTES - 1) / EXTENT_BYTES;
	Assert(part->count <= count);
	memcpy(shared->list + part->first, extents, part->count * sizeof(uint32));
	return true;
}

bool
gpusort_publish_view(GpuSort *sort, GpuSortSharedView *shared)
{
	GpuSortView *view = &shared->view;
	GpuSortRange *ranges[GPUSORT_VIEW_PARTS];

	gpusort_view(sort, view);
	if (view->granule_rows > 0)
		memcpy(shared_offsets(shared), view->granule_offsets,
			   (view->granule_rows >> view->granule_shift) * sizeof(size_t));
	find_ranges(sort, ranges);
	return publish_part(shared, GPUSORT_VIEW_ROWS, ranges[GPUSORT_VIEW_ROWS], view->rows,
						sort->rows_used) &&
		publish_part(shared, GPUSORT_VIEW_ROW_REFS, ranges[GPUSORT_VIEW_ROW_REFS],
					 view->row_refs, view->nrows * sizeof(uint32)) &&
		publish_part(shared, GPUSORT_VIEW_ORDER, ranges[GPUSORT_VIEW_ORDER],
					 view->order, view->nrows * sizeof(uint32)) &&
		publish_part(shared, GPUSORT_VIEW_EQUAL, ranges[GPUSORT_VIEW_EQUAL],
					 view->equal, (view->nrows + 63) / 64 * sizeof(uint64));
}

bool
gpusort_leave_view(GpuSort *sort, GpuSortSharedView *shared)
{
	GpuSortRange *ranges[GPUSORT_VIEW_PARTS];

	if (sort->tuplesort != NULL || !gpusort_publish_view(sort, shared) ||
		gpusort_service_holds_memory(sort))
		return false;
	find_ranges(sort, ranges);
	for (int i = 0; i < GPUSORT_VIEW_PARTS; i++)
	{
		const SharedPart *part = &shared->parts[i];

		if (part->count > 0)
			gpusort_range_yield(ranges[i], part->count, shared->list + part->first);
	}
	return true;
}

/* Map the part's extents over a reservation at base. */
static bool
map_extents(const SharedPart *part, const uint32 *list, char *base)
{
	for (uint32 i = 0; i < part->count;)
	{
		uint32		count = 1;

		while (i + count < part->count && list[i + count] == list[i] + count)
			count++;
		if (mmap(base + i * EXTENT_BYTES, count * EXTENT_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED,
				 gpusort_pool->fd, gsd_extent_offset(gpusort_pool, list[i])) == MAP_FAILED)
			return false;
		i += count;
	}
	return true;
}

static bool
attach_part(const GpuSortSharedView *shared, GpuSortViewPart number, GpuSortViewMapping *mapping)
{
	const SharedPart *part = &shared->parts[number];
	size_t		bytes = part->count * EXTENT_BYTES;
	char	   *reserved;
	char	   *base;
	size_t		lead;

	if (part->count == 0)
		return true;
	reserved = mmap(NULL, bytes + EXTENT_BYTES, PROT_NONE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED)
		return false;

	/* huge pages want to be aligned */
	base = (char *) TYPEALIGN(EXTENT_BYTES, reserved);
	lead = base - reserved;
	if (lead > 0)
		(void) munmap(reserved, lead);
	if (lead < EXTENT_BYTES)
		(void) munmap(base + bytes, EXTENT_BYTES - lead);

	mapping->base[number] = base;
	mapping->bytes[number] = bytes;
	if (!map_extents(part, shared->list + part->first, base))
		return false;
	if (number == GPUSORT_VIEW_ROWS || number == GPUSORT_VIEW_ROW_REFS)
		(void) madvise(base, part->bytes, MADV_POPULATE_READ);
	return true;
}

bool
gpusort_attach_view(const GpuSortSharedView *shared, GpuSortView *view,
					GpuSortViewMapping *mapping)
{
	const SharedPart *parts = shared->parts;

	memset(mapping, 0, sizeof(*mapping));
	for (int i = 0; i < GPUSORT_VIEW_PARTS; i++)
		if (!attach_part(shared, i, mapping))
		{
			gpusort_detach_view(mapping);
			return false;
		}
	*view = shared->view;
	view->granule_offsets = shared_offsets(shared);
	view->rows = mapping->base[GPUSORT_VIEW_ROWS] + parts[GPUSORT_VIEW_ROWS].offset;
	if (parts[GPUSORT_VIEW_ROW_REFS].count > 0)
		view->row_refs = (uint32 *) (mapping->base[GPUSORT_VIEW_ROW_REFS] + parts[GPUSORT_VIEW_ROW_REFS].offset);
	if (parts[GPUSORT_VIEW_ORDER].count > 0)
		view->order = (uint32 *) (mapping->base[GPUSORT_VIEW_ORDER] + parts[GPUSORT_VIEW_ORDER].offset);
	if (parts[GPUSORT_VIEW_EQUAL].count > 0)
		view->equal = (uint64 *) (mapping->base[GPUSORT_VIEW_EQUAL] + parts[GPUSORT_VIEW_EQUAL].offset);
	return true;
}

void
gpusort_detach_view(GpuSortViewMapping *mapping)
{
	for (int i = 0; i < GPUSORT_VIEW_PARTS; i++)
		if (mapping->base[i] != NULL)
			(void) munmap(mapping->base[i], mapping->bytes[i]);
	memset(mapping, 0, sizeof(*mapping));
}
