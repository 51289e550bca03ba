/*
 * view_mapping.c
 *		Mapping a view of another process's sort; see sort_view.h.
 *
 * The extents of a piece are mapped one behind the other, since rows cross their ends.  Rows are
 * read all over the store, so its pages are mapped in advance.  The order and the bitmap are read
 * from front to back, by each process its slices only, so their pages are mapped by faults.
 */
#include "postgres.h"

#include "memory/pool.h"
#include "sort/parts_private.h"
#include "sort/sort_view.h"

static bool
attach_piece(const GpuSortSharedView *shared, GpuSortViewPiece number, GpuSortViewMapping *mapping)
{
	const SharedPiece *piece = &shared->pieces[number];
	char	   *base;

	if (piece->count == 0)
		return true;
	base = gpusort_mapping_make(shared->list + piece->first, piece->count, false);
	if (base == NULL)
		return false;
	mapping->base[number] = base;
	mapping->extents[number] = piece->count;
	if (number == GPUSORT_VIEW_ROWS || number == GPUSORT_VIEW_ROW_REFS)
		gpusort_mapping_populate(base, piece->bytes);
	return true;
}

/* Returns where the contents of a piece begin, or NULL if the view has none. */
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
			gpusort_mapping_end(mapping->base[i], mapping->extents[i]);
	memset(mapping, 0, sizeof(*mapping));
}
