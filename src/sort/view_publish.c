/*
 * view_publish.c
 *		Making and publishing views of a sort's result; see sort_view.h.
 */
#include "postgres.h"

#include "memory/pool.h"
#include "sort/parts_private.h"
#include "sort/service_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/*
 * Returns whether gpusortd has brought all rows into order, so that the copy is all a view needs.
 */
static bool
all_reordered(const GpuSort *sort)
{
	return sort->rows.count > 0 && sort->device.reorder.count == sort->rows.count &&
		!sort->device.reorder.but_ties;
}

void
gpusort_view(GpuSort *sort, GpuSortView *view)
{
	Assert(sort->tuplesort == NULL && (!sort->key_rows.used || sort->runs.window.mapped));
	/*
	 * readers of a view know nothing of ties, so a copy that is right except for these is of no use
	 * to them
	 */
	if (sort->device.reorder.but_ties)
		gpusort_sort_service_end(sort);
	gpusort_await_all(sort);
	if (sort->runs.window.mapped)
	{
		*view = sort->runs.window.view;
		return;
	}
	if (all_reordered(sort))
		sort->stats.reordered_rows = sort->rows.count;
	view->merged = sort->device.merge.merged;
	view->any_nulls = sort->device.merge.any_nulls;
	view->sides = sort->device.merge.sides;
	view->places = all_reordered(sort) ? sort->device.reorder.places : sort->rows.places;
	view->order = all_reordered(sort) ? NULL : sort->order.ids;
	view->equal = sort->index_rows ||
		(sort->device.merge.merged ? sort->device.merge.holds_order : sort->order.knows_equal)
		? RANGE_U64(sort->order.equal) : NULL;
	view->nrows = sort->rows.count;
	view->row_bytes = average_row_bytes(&sort->rows);
	view->tuple_bytes = sort->index_rows && sort->rows.template.tuple != NULL &&
		!sort->index.other_lengths ? sort->rows.template.length : 0;
}

Size
gpusort_view_shared_bytes(void)
{
	if (gpusort_pool == NULL)
		return 0;
	/* there are no more granules than extents, since each has an extent of references at least */
	return add_size(shared_list_bytes(), mul_size(gpusort_pool->header->nextents, sizeof(size_t)));
}

/* Tells in ranges[] in which ranges the pieces of the sort's view lie. */
static void
find_ranges(const GpuSort *sort, GpuSortRange *ranges[GPUSORT_VIEW_PIECES])
{
	bool		reordered = all_reordered(sort);
	bool		refined = sort->order.refined != NULL &&
		sort->order.ids == RANGE_U32(sort->order.refined);

	ranges[GPUSORT_VIEW_ROWS] = reordered ? sort->device.reorder.rows : sort->rows.store;
	ranges[GPUSORT_VIEW_ROW_REFS] = reordered ? sort->device.reorder.refs : sort->rows.refs;
	ranges[GPUSORT_VIEW_ORDER] = refined ? sort->order.refined : sort->order.workspace;
	ranges[GPUSORT_VIEW_EQUAL] = sort->order.equal;
}

/* Adds a piece to a shared view.  Returns false if it is private memory. */
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

/* Returns how many rows the view's order has. */
static uint64
rows_in_order(const GpuSortView *view)
{
	return view->merged ? gs_sides_rows(&view->sides) : view->nrows;
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
					  view->order, rows_in_order(view) * sizeof(uint32)) &&
		publish_piece(shared, GPUSORT_VIEW_EQUAL, ranges[GPUSORT_VIEW_EQUAL],
					  view->equal, (rows_in_order(view) + 63) / 64 * sizeof(uint64));
}

static bool
fill_view(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	return gpusort_pool != NULL && gpusort_publish_view(declared->from, member);
}

/* Without a pool, no process can map another's rows, so the member is one that can't be filled. */
GpuSortMember
gpusort_view_member(GpuSort *sort)
{
	return (GpuSortMember) {Max(gpusort_view_shared_bytes(), 1), fill_view, sort};
}

bool
gpusort_leave_view(GpuSort *sort, GpuSortSharedView *shared)
{
	GpuSortRange *ranges[GPUSORT_VIEW_PIECES];

	if (sort->tuplesort != NULL || gpusort_has_runs(sort) || !gpusort_publish_view(sort, shared) ||
		gpusort_sort_service_holds_memory(sort))
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
