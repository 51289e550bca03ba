/*
 * sort_fetch.c
 *		Fetching rows by their positions in the order; see sort.h.
 *
 * What is fetched is a pointer.  A row comes from the copy that gpusortd has put in order, as far
 * as there is one (sort_reorder.c), or it is made of its key (key_rows.c), or it lies in the row
 * store, where its id tells.  Of a sort that has spilled, only rows in its window can be fetched.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "prefetch.h"
#include "settings.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/* Fetches rows from the copy that gpusortd has put in order. */
static void
fetch_reordered(GpuSort *sort, uint64 from, int count, void **rows)
{
	for (int i = 0; i < count; i++)
		rows[i] = gpusort_row_at(&sort->device.reorder.places, (uint32) (from + i));
	sort->stats.reordered_rows += count;
}

/*
 * Returns a bitmap in which bit i is set if the row at position from + i ties with the row before
 * or behind it.
 */
static uint64
tied_rows(const GpuSort *sort, uint64 from, int count)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	uint64		first = from / 64;
	int			shift = (int) (from % 64);
	uint64		bits = equal[first] >> shift;
	uint64		next = first + 1 < (sort->rows.count + 63) / 64 ? equal[first + 1] : 0;

	/* a bit of `equal` says that a row ties with the one before */
	if (shift > 0)
		bits |= next << (64 - shift);
	bits |= bits >> 1;
	if (count == 64)
		bits |= (next >> shift & 1) << 63;
	return count == 64 ? bits : bits & ((UINT64CONST(1) << count) - 1);
}

/*
 * Fetches rows from that copy, but those that tied by pointer: the refinement may have moved them.
 */
static void
fetch_reordered_but_ties(GpuSort *sort, uint64 from, int count, void **rows)
{
	uint64		tied = tied_rows(sort, from, count);

	fetch_reordered(sort, from, count, rows);
	for (; tied != 0; tied &= tied - 1)
	{
		int			i = pg_rightmost_one_pos64(tied);

		rows[i] = gpusort_row_at(&sort->rows.places, sort->order.ids[from + i]);
		sort->stats.reordered_rows--;
	}
}

void
gpusort_fetch_block(GpuSort *sort, uint64 from, int count, GpuSortRowRoom *room, void **rows)
{
	const GpuSortRowPlaces *places = &sort->rows.places;
	uint64		left;
	int			ahead_to;
	const uint32 *order;

	if (sort->shown.activity != NULL)
		gpusort_show_returned(sort, from + count);
	from -= sort->runs.window.first;
	if (unlikely(sort->runs.window.mapped))
	{
		gpusort_view_fetch(&sort->runs.window.view, from, count, rows);
		return;
	}
	left = sort->rows.count - from;
	ahead_to = (int) Min(left, 2 * (uint64) count);
	Assert(count <= left);
	if (unlikely(sort->device.job.open))
		gpusort_await_rows(sort, from + ahead_to);
	if (from + count <= sort->device.reorder.count)
	{
		if (sort->device.reorder.but_ties)
			fetch_reordered_but_ties(sort, from, count, rows);
		else
			fetch_reordered(sort, from, count, rows);
		return;
	}
	if (sort->key_rows.used)
	{
		gpusort_make_key_rows(sort, from, count, ahead_to, room, rows);
		return;
	}
	order = sort->order.ids + from;
	for (int i = 0; i < count; i++)
		rows[i] = gpusort_row_at(places, order[i]);
	if (places->uniform)
		return;
	for (int i = count; i < ahead_to; i++)
		if (!gpusort_place_is_known(places, order[i]))
			prefetch_line(&places->refs[order[i]]);
}

bool
gpusort_make_rows_of_keys(GpuSort *sort, bool wanted)
{
	if (sort->tuplesort != NULL)
		return false;
	gpusort_use_key_rows(sort, wanted && !gpusort_verify && sort->bound.rows == 0 &&
						 !gpusort_reorder_is_likely(sort));
	return sort->key_rows.used;
}

void
gpusort_fetch_window(GpuSort *sort, uint64 position, uint64 *from, uint64 *to)
{
	uint64		nrows = sort->rows.count;

	if (gpusort_has_runs(sort))
	{
		gpusort_sort_load_portion(sort, position);
		nrows = sort->runs.window.nrows;
	}
	*from = sort->runs.window.first;
	*to = sort->runs.window.first + nrows;
}

void
gpusort_rest(MemoryContext context)
{
	GpuSort    *sort;

	while ((sort = gpusort_sort_service_find(context)) != NULL)
	{
		gpusort_await_all(sort);
		gpusort_sort_service_end(sort);
	}
}

size_t
gpusort_row_bytes(const GpuSort *sort)
{
	return average_row_bytes(&sort->rows);
}

const void *
gpusort_stored_rows(const GpuSort *sort, Size *bytes)
{
	Assert(sort->index_rows && sort->keys.ncolumns == 0);
	*bytes = sort->rows.used;
	return sort->rows.places.base;
}
