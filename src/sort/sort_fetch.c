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
	const uint32 *row_refs = RANGE_U32(sort->row_refs);
	uint64		left = sort->nrows - from;
	int			ahead_to = (int) Min(left, 2 * (uint64) count);
	const uint32 *order;

	Assert(count <= left);
	if (unlikely(from + ahead_to > sort->ready))
		gpusort_service_await(sort, from + ahead_to);
	if (unlikely(sort->reordering))
		gpusort_reorder_look(sort, from + ahead_to);
	if (from + count <= sort->reordered)
	{
		gpusort_reorder_fetch(sort, from, count, rows);
		return;
	}
	order = sort->order + from;
	for (int i = 0; i < count; i++)
		rows[i] = row_by_id(sort, order[i]);
	if (sort->uniform)
		return;
	for (int i = count; i < ahead_to; i++)
		if (!row_place_is_known(sort, order[i]))
			prefetch_line(&row_refs[order[i]]);
}

size_t
gpusort_row_bytes(const GpuSort *sort)
{
	return sort->nrows > 0 ? sort->rows_used / sort->nrows : 0;
}

const void *
gpusort_stored_rows(const GpuSort *sort, Size *bytes)
{
	Assert(sort->index_rows && sort->ncolumns == 0);
	*bytes = sort->rows_used;
	return sort->rows->base;
}

const uint64 *
gpusort_equal_rows(const GpuSort *sort)
{
	Assert(sort->index_rows && sort->performed);
	return RANGE_U64(sort->equal);
}
