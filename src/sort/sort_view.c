/*
 * sort_view.c
 *		The result of a sort, to be read by several processes at once; see
 *		sort_view.h.
 *
 * The extents of a piece are mapped one behind the other, since rows cross their
 * ends, neighbours in the pool with one call.  Rows are read all over the store, so
 * its pages are mapped in advance by one call, which is an order of magnitude
 * cheaper than a fault for each, unless they are huge anyway (range_extents.c has
 * figures).  The order and the bitmap are read from front to back, a process its
 * slices only: faults do for those.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "memory/pool.h"
#include "sort/sort_await.h"
#include "sort/sort_service.h"
#include "sort/sort_state.h"
#include "sort/sort_view.h"
#include "sort/spill_files.h"

/* asm-generic/mman-common.h, which may be older than the kernel */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

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
	return sort->rows.count > 0 && sort->reorder.count == sort->rows.count;
}

void
gpusort_view(GpuSort *sort, GpuSortView *view)
{
	Assert(sort->order.ids != NULL && sort->tuplesort == NULL);
	gpusort_await_all(sort);
	if (all_reordered(sort))
		sort->stats.reordered_rows = sort->rows.count;
	view->places = all_reordered(sort) ? sort->reorder.places : sort->rows.places;
	view->order = all_reordered(sort) ? NULL : sort->order.ids;
	view->equal = sort->index_rows ? RANGE_U64(sort->order.equal) : NULL;
	view->nrows = sort->rows.count;
	view->row_bytes = average_row_bytes(&sort->rows);
	view->tuple_bytes = sort->index_rows && sort->rows.template.tuple != NULL &&
		!sort->index.other_lengths ? sort->rows.template.length : 0;
}

Size
gpusort_shared_view_bytes(void)
{
	if (gpusort_pool == NULL)
		return 0;
	/* a granule has an extent of references, if not more */
	return add_size(list_bytes(), mul_size(gpusort_pool->header->nextents, sizeof(size_t)));
}

/* Where the pieces of the sort's view lie. */
static void
find_ranges(const GpuSort *sort, GpuSortRange *ranges[GPUSORT_VIEW_PIECES])
{
	bool		reordered = all_reordered(sort);
	bool		refined = sort->order.refined != NULL &&
		sort->order.ids == RANGE_U32(sort->order.refined);

	ranges[GPUSORT_VIEW_ROWS] = reordered ? sort->reorder.rows : sort->rows.store;
	ranges[GPUSORT_VIEW_ROW_REFS] = reordered ? sort->reorder.refs : sort->rows.refs;
	ranges[GPUSORT_VIEW_ORDER] = refined ? sort->order.refined : sort->order.workspace;
	ranges[GPUSORT_VIEW_EQUAL] = sort->order.equal;
}

/* Add a piece; false if it is private memory. */
static bool
publish_piece(GpuSortSharedView *shared, GpuSortViewPiece number, const GpuSortRange *range,
			 const void *start, size_t bytes)
{
	SharedPiece *piece = &shared->pieces[number];
	const uint32 *extents;
	uint32		count;

	piece->first = number == 0 ? 0 : piece[-1].first + piece[-1].count;
	piece->count = 0;
	if (start == NULL || bytes == 0)
		return true;
	if (!gpusort_range_extents(range, &extents, &count))
		return false;
	piece->offset = (const char *) start - range->base;
	piece->bytes = piece->offset + bytes;
	piece->count = (piece->bytes + EXTENT_BYTES - 1) / EXTENT_BYTES;
	Assert(piece->count <= count);
	memcpy(shared->list + piece->first, extents, piece->count * sizeof(uint32));
	return true;
}

bool
gpusort_publish_view(GpuSort *sort, GpuSortSharedView *shared)
{
	GpuSortView *view = &shared->view;
	const GpuSortRowPlaces *places = &view->places;
	GpuSortRange *ranges[GPUSORT_VIEW_PIECES];

	gpusort_view(sort, view);
	if (places->granule_rows > 0)
		memcpy(shared_offsets(shared), places->granule_offsets,
			   (places->granule_rows >> GPUSORT_GRANULE_SHIFT) * sizeof(size_t));
	find_ranges(sort, ranges);
	return publish_piece(shared, GPUSORT_VIEW_ROWS, ranges[GPUSORT_VIEW_ROWS], places->base,
						 sort->rows.used) &&
		publish_piece(shared, GPUSORT_VIEW_ROW_REFS, ranges[GPUSORT_VIEW_ROW_REFS],
					  places->uniform ? NULL : places->refs, view->nrows * sizeof(uint32)) &&
		publish_piece(shared, GPUSORT_VIEW_ORDER, ranges[GPUSORT_VIEW_ORDER],
					  view->order, view->nrows * sizeof(uint32)) &&
		publish_piece(shared, GPUSORT_VIEW_EQUAL, ranges[GPUSORT_VIEW_EQUAL],
					  view->equal, (view->nrows + 63) / 64 * sizeof(uint64));
}

bool
gpusort_leave_view(GpuSort *sort, GpuSortSharedView *shared)
{
	GpuSortRange *ranges[GPUSORT_VIEW_PIECES];

	if (sort->tuplesort != NULL || gpusort_has_runs(sort) || !gpusort_publish_view(sort, shared) ||
		gpusort_service_holds_memory(sort))
		return false;
	find_ranges(sort, ranges);
	for (int i = 0; i < GPUSORT_VIEW_PIECES; i++)
	{
		const SharedPiece *piece = &shared->pieces[i];

		if (piece->count > 0)
			gpusort_range_yield(ranges[i], piece->count, shared->list + piece->first);
	}
	return true;
}

/* Map the piece's extents over a reservation at base. */
static bool
map_extents(const SharedPiece *piece, const uint32 *list, char *base)
{
	for (uint32 i = 0; i < piece->count;)
	{
		uint32		count = 1;

		while (i + count < piece->count && list[i + count] == list[i] + count)
			count++;
		if (mmap(base + i * EXTENT_BYTES, count * EXTENT_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED,
				 gpusort_pool->fd, gsd_extent_offset(gpusort_pool, list[i])) == MAP_FAILED)
			return false;
		i += count;
	}
	return true;
}

static bool
attach_piece(const GpuSortSharedView *shared, GpuSortViewPiece number, GpuSortViewMapping *mapping)
{
	const SharedPiece *piece = &shared->pieces[number];
	size_t		bytes = piece->count * EXTENT_BYTES;
	char	   *reserved;
	char	   *base;
	size_t		lead;

	if (piece->count == 0)
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
	if (!map_extents(piece, shared->list + piece->first, base))
		return false;
	if (number == GPUSORT_VIEW_ROWS || number == GPUSORT_VIEW_ROW_REFS)
		(void) madvise(base, piece->bytes, MADV_POPULATE_READ);
	return true;
}

/* Where the contents of a piece begin; NULL if the view has none. */
static void *
start_of(const GpuSortSharedView *shared, const GpuSortViewMapping *mapping,
		 GpuSortViewPiece number)
{
	const SharedPiece *piece = &shared->pieces[number];

	return piece->count > 0 ? mapping->base[number] + piece->offset : NULL;
}

bool
gpusort_attach_view(const GpuSortSharedView *shared, GpuSortView *view,
					GpuSortViewMapping *mapping)
{
	memset(mapping, 0, sizeof(*mapping));
	for (int i = 0; i < GPUSORT_VIEW_PIECES; i++)
		if (!attach_piece(shared, i, mapping))
		{
			gpusort_detach_view(mapping);
			return false;
		}
	*view = shared->view;
	view->places.granule_offsets = shared_offsets(shared);
	view->places.base = start_of(shared, mapping, GPUSORT_VIEW_ROWS);
	view->places.refs = start_of(shared, mapping, GPUSORT_VIEW_ROW_REFS);
	view->order = start_of(shared, mapping, GPUSORT_VIEW_ORDER);
	view->equal = start_of(shared, mapping, GPUSORT_VIEW_EQUAL);
	return true;
}

void
gpusort_detach_view(GpuSortViewMapping *mapping)
{
	for (int i = 0; i < GPUSORT_VIEW_PIECES; i++)
		if (mapping->base[i] != NULL)
			(void) munmap(mapping->base[i], mapping->bytes[i]);
	memset(mapping, 0, sizeof(*mapping));
}
