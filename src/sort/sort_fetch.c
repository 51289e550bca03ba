/*
 * sort_fetch.c
 *		Rows out; see sort_fetch.h.
 */
#include "postgres.h"

#include "sort/sort_fetch.h"
#include "sort/sort_internal.h"

void
gpusort_fetch_block(GpuSort *sort, uint64 from, int count, void **rows)
{
	const uint32 *row_refs = sort->rows.places.refs;
	uint64		left = sort->rows.count - from;
	int			ahead_to = (int) Min(left, 2 * (uint64) count);
	const uint32 *order;

	Assert(count <= left);
	if (unlikely(from + ahead_to > sort->order.ready))
		gpusort_service_await(sort, from + ahead_to);
	if (unlikely(sort->reorder.running))
		gpusort_reorder_look(sort, from + ahead_to);
	if (from + count <= sort->reorder.count)
	{
		gpusort_reorder_fetch(sort, from, count, rows);
		return;
	}
	order = sort->order.ids + from;
	for (int i = 0; i < count; i++)
		rows[i] = gpusort_row_at(&sort->rows.places, order[i]);
	if (sort->rows.places.uniform)
		return;
	for (int i = count; i < ahead_to; i++)
		if (!gpusort_place_is_known(&sort->rows.places, order[i]))
			prefetch_line(&row_refs[order[i]]);
}

size_t
gpusort_row_bytes(const GpuSort *sort)
{
	return sort->rows.count > 0 ? sort->rows.used / sort->rows.count : 0;
}

const void *
gpusort_stored_rows(const GpuSort *sort, Size *bytes)
{
	Assert(sort->index_rows && sort->keys.ncolumns == 0);
	*bytes = sort->rows.used;
	return sort->rows.places.base;
}

const uint64 *
gpusort_equal_rows(const GpuSort *sort)
{
	Assert(sort->index_rows && sort->order.performed);
	return RANGE_U64(sort->order.equal);
}
