/*
 * sort_cuts.c
 *		Where a sorted result may be cut; see sort_cuts.h.
 *
 * Rows are compared with the operator class's own comparison, which says equal where its
 * equality operator does, nulls being equal to each other as they are in groups and
 * partitions.  Since equal rows are neighbours, the end of a group is found in
 * logarithmically many steps, however many rows it has.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"

#include "pg_compat.h"
#include "sort/sort_cuts.h"

struct GpuSortCutter
{
	const GpuSortView *view;
	int			ncolumns;
	SortSupport keys;
	TupleTableSlot *group;		/* a row of the group whose end is looked for */
	TupleTableSlot *other;
	MemoryContext compare_context;	/* what comparisons allocate */
};

GpuSortCutter *
gpusort_begin_cuts(const GpuSortView *view, TupleDesc desc, const GpuSortSpec *spec, int ncolumns)
{
	GpuSortCutter *cutter = palloc(sizeof(GpuSortCutter));

	cutter->view = view;
	cutter->ncolumns = ncolumns;
	cutter->keys = palloc0(ncolumns * sizeof(SortSupportData));
	for (int i = 0; i < ncolumns; i++)
	{
		SortSupport key = &cutter->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = spec->collations[i];
		key->ssup_nulls_first = spec->nulls_first[i];
		key->ssup_attno = spec->attnos[i];
		PrepareSortSupportFromOrderingOp(spec->sortops[i], key);
	}
	cutter->group = gpusort_make_slot(desc, &TTSOpsMinimalTuple);
	cutter->other = gpusort_make_slot(desc, &TTSOpsMinimalTuple);
	cutter->compare_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort cuts",
													ALLOCSET_SMALL_SIZES);
	return cutter;
}

/* Does the row at a position belong to the group? */
static bool
is_in_group(GpuSortCutter *cutter, uint64 position)
{
	int			cmp = 0;

	CHECK_FOR_INTERRUPTS();
	ExecStoreMinimalTuple(gpusort_view_row(cutter->view, position), cutter->other, false);
	for (int i = 0; i < cutter->ncolumns && cmp == 0; i++)
	{
		SortSupport key = &cutter->keys[i];
		bool		group_isnull;
		bool		other_isnull;
		Datum		group = slot_getattr(cutter->group, key->ssup_attno, &group_isnull);
		Datum		other = slot_getattr(cutter->other, key->ssup_attno, &other_isnull);

		cmp = ApplySortComparator(group, group_isnull, other, other_isnull, key);
	}
	return cmp == 0;
}

/* The first position from `from` on that is not in the group, of which from - 1 is. */
static uint64
end_of_group(GpuSortCutter *cutter, uint64 from)
{
	uint64		nrows = cutter->view->nrows;
	uint64		inside = from - 1;
	uint64		outside = nrows;

	/* ever longer steps, then halves */
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
	MemoryContext old;
	uint64		cut;

	if (position == 0 || position >= cutter->view->nrows)
		return Min(position, cutter->view->nrows);
	old = MemoryContextSwitchTo(cutter->compare_context);
	ExecStoreMinimalTuple(gpusort_view_row(cutter->view, position - 1), cutter->group, false);
	cut = end_of_group(cutter, position);
	ExecClearTuple(cutter->group);
	ExecClearTuple(cutter->other);
	MemoryContextSwitchTo(old);
	MemoryContextReset(cutter->compare_context);
	return cut;
}
