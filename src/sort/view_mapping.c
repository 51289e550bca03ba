/*
 * view_mapping.c
 *		A view of another process's sort, mapped; see view_mapping.h.
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

#include "sort/view_layout.h"
#include "sort/view_mapping.h"

/* asm-generic/mman-common.h, which may be older than the kernel */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

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
