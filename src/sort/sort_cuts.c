/*
 * sort_cuts.c
 *		Where a sorted result may be cut; see sort_view.h.
 *
 * Rows are compared with the operator class's own comparison, which finds rows equal where its
 * equality operator does, and nulls equal to each other, as they are in groups and partitions.
 * Since equal rows are neighbours, the end of a group is found in logarithmically many steps,
 * however many rows it has.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "runs/runs.h"
#include "sort/sort_view.h"

struct GpuSortCutter
{
	const GpuSortView *view;
	GpuSortRowComparer comparer;	/* row 0 is one of the group whose end is looked for */
};

GpuSortCutter *
gpusort_begin_cuts(const GpuSortView *view, TupleDesc desc, const GpuSortSpec *spec, int ncolumns)
{
	GpuSortCutter *cutter = palloc(sizeof(GpuSortCutter));
	GpuSortRowKeys keys = {ncolumns, spec->attnos, spec->sortops, spec->collations,
		spec->nulls_first};

	cutter->view = view;
	gpusort_row_comparer_begin(&cutter->comparer, desc, &keys, false);
	return cutter;
}

/* Returns whether the row at a position belongs to the group. */
static bool
is_in_group(GpuSortCutter *cutter, uint64 position)
{
	CHECK_FOR_INTERRUPTS();
	gpusort_row_comparer_load(&cutter->comparer, 1, gpusort_view_row(cutter->view, position));
	return gpusort_row_comparer_compare_keys(&cutter->comparer) == 0;
}

/*
 * Returns the first position from `from` on that is not in the group, which the row at from - 1 is
 * in.
 */
static uint64
end_of_group(GpuSortCutter *cutter, uint64 from)
{
	uint64		nrows = cutter->view->nrows;
	uint64		inside = from - 1;
	uint64		outside = nrows;

	/* go forward in ever longer steps, then bisect */
	for (uint64 step = 1; inside + step < nrows; step *= 2)
	{
		if (!is_in_group(cutter, inside + step))
		{
			outside = inside + step;
			break;
		}
		inside += step;
	}
	while (outside - inside > 1)
	{
		uint64		middle = inside + (outside - inside) / 2;

		if (is_in_group(cutter, middle))
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

uint64
gpusort_find_cut(GpuSortCutter *cutter, uint64 position)
{
	uint64		cut;

	if (position == 0 || position >= cutter->view->nrows)
		return Min(position, cutter->view->nrows);
	gpusort_row_comparer_load(&cutter->comparer, 0, gpusort_view_row(cutter->view, position - 1));
	cut = end_of_group(cutter, position);
	gpusort_row_comparer_clear(&cutter->comparer);
	return cut;
}
