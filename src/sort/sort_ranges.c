/*
 * sort_ranges.c
 *		The ranges of memory that a sort lives in; see sort_ranges.h.
 */
#include "postgres.h"

#include "engine/host/gs_sort.h"
#include "sort/sort_ranges.h"
#include "sort/sort_state.h"

GpuSortRange *
gpusort_acquire_range(GpuSort *sort, int role)
{
	return gpusort_range_acquire(role, sort->memory.reserve_bytes, &sort->memory.pool_account);
}

size_t
gpusort_bitmap_bytes(uint64 rows)
{
	return (rows + 63) / 64 * sizeof(uint64);
}

static bool
visit_range(GpuSortRange **range, size_t bytes, GpuSortRangeVisitor visit, void *arg)
{
	return *range == NULL || visit(range, bytes, arg);
}

/* Visit the planes of all columns; stops when a visitor says false. */
static bool
visit_columns(GpuSortKeys *keys, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortColumn *column = &keys->columns[i];

		if (!visit_range(&column->prefix, rows * sizeof(uint64), visit, arg) ||
			!visit_range(&column->refs, rows * sizeof(uint64), visit, arg) ||
			!visit_range(&column->nulls, gpusort_bitmap_bytes(rows), visit, arg))
			return false;
		for (int w = 0; w < column->nwords; w++)
			if (!visit_range(&column->words[w], rows * sizeof(uint64), visit, arg))
				return false;
	}
	return true;
}

bool
gpusort_visit_planes(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	size_t		refs_bytes = sort->key_rows.used ? 0 : rows * sizeof(uint32);

	return visit_range(&sort->rows.refs, refs_bytes, visit, arg) &&
		visit_columns(&sort->keys, rows, visit, arg);
}

bool
gpusort_visit_workspace(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	return visit_range(&sort->order.workspace, gs_sort_workspace_bytes(rows), visit, arg) &&
		visit_range(&sort->order.refined, rows * sizeof(uint32), visit, arg) &&
		visit_range(&sort->order.equal, gpusort_bitmap_bytes(rows), visit, arg);
}

bool
gpusort_visit_ranges(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	return visit_range(&sort->rows.store, sort->rows.used, visit, arg) &&
		gpusort_visit_planes(sort, rows, visit, arg) &&
		gpusort_visit_workspace(sort, rows, visit, arg);
}

static bool
count_range(GpuSortRange **range, size_t bytes, void *arg)
{
	(*(size_t *) arg)++;
	return true;
}

size_t
gpusort_count_ranges(GpuSort *sort)
{
	size_t		count = 0;

	gpusort_visit_ranges(sort, 0, count_range, &count);
	return count;
}

static bool
acquire_planes(GpuSort *sort, int i)
{
	GpuSortColumn *column = &sort->keys.columns[i];

	if (column->bytes != GPUSORT_BYTES_NONE)
	{
		column->prefix = gpusort_acquire_range(sort, GPUSORT_PLANE_ROLE(i, GPUSORT_PREFIX_ROLE));
		column->refs = gpusort_acquire_range(sort, GPUSORT_PLANE_ROLE(i, GPUSORT_REFS_ROLE));
		if (column->prefix == NULL || column->refs == NULL)
			return false;
	}
	for (int w = 0; w < column->nwords; w++)
	{
		int			role = GPUSORT_PLANE_ROLE(i, GPUSORT_WORDS_ROLE + w);

		column->words[w] = gpusort_acquire_range(sort, role);
		if (column->words[w] == NULL)
			return false;
	}
	return true;
}

bool
gpusort_acquire_ranges(GpuSort *sort)
{
	sort->rows.store = gpusort_acquire_range(sort, GPUSORT_RANGE_ROWS);
	sort->rows.refs = gpusort_acquire_range(sort, GPUSORT_RANGE_ROW_REFS);
	sort->order.workspace = gpusort_acquire_range(sort, GPUSORT_RANGE_WORKSPACE);
	if (sort->rows.store == NULL || sort->rows.refs == NULL || sort->order.workspace == NULL)
		return false;
	sort->rows.places.base = sort->rows.store->base;
	sort->rows.places.refs = RANGE_U32(sort->rows.refs);
	if (sort->keys.any_bytes || sort->index_rows)
	{
		sort->order.refined = gpusort_acquire_range(sort, GPUSORT_RANGE_REFINED);
		if (sort->order.refined == NULL)
			return false;
	}
	if (sort->keys.any_bytes || sort->tells_equal)
	{
		sort->order.equal = gpusort_acquire_range(sort, GPUSORT_RANGE_EQUAL);
		if (sort->order.equal == NULL)
			return false;
	}
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (!acquire_planes(sort, i))
			return false;
	return true;
}

static bool
release_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_release(*range);
	*range = NULL;
	return true;
}

void
gpusort_release_planes(GpuSort *sort)
{
	gpusort_visit_workspace(sort, 0, release_range, NULL);
	gpusort_visit_planes(sort, 0, release_range, NULL);
}

void
gpusort_release_nulls(GpuSort *sort)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
		visit_range(&sort->keys.columns[i].nulls, 0, release_range, NULL);
}

void
gpusort_release_aside(GpuSort *sort)
{
	visit_range(&sort->aside.store, 0, release_range, NULL);
	visit_range(&sort->aside.refs, 0, release_range, NULL);
}

void
gpusort_release_reordered(GpuSort *sort)
{
	visit_range(&sort->reorder.rows, 0, release_range, NULL);
	visit_range(&sort->reorder.refs, 0, release_range, NULL);
	sort->reorder.count = 0;
	sort->reorder.but_ties = false;
}

void
gpusort_release_merge(GpuSort *sort)
{
	visit_range(&sort->merge.rest, 0, release_range, NULL);
	visit_range(&sort->merge.nulls, 0, release_range, NULL);
}

void
gpusort_release_ranges(GpuSort *sort)
{
	/* the dearest first, while there is room in gpusort.keep_memory */
	visit_range(&sort->rows.store, 0, release_range, NULL);
	gpusort_release_reordered(sort);
	gpusort_release_merge(sort);
	gpusort_release_planes(sort);
}

static bool
rewind_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_rewind(*range);
	return true;
}

void
gpusort_rewind_ranges(GpuSort *sort)
{
	visit_range(&sort->rows.store, 0, rewind_range, NULL);
	gpusort_visit_workspace(sort, 0, rewind_range, NULL);
	gpusort_visit_planes(sort, 0, rewind_range, NULL);
	sort->memory.capacity = 0;
	sort->rows.end = 0;
}

static bool
discard_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_discard(*range, 0, (*range)->usable);
	return true;
}

void
gpusort_discard_planes(GpuSort *sort)
{
	gpusort_visit_workspace(sort, 0, discard_range, NULL);
	visit_columns(&sort->keys, 0, discard_range, NULL);
}
