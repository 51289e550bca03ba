/*
 * sort_compare.h
 *		Sorting the rows in memory by PostgreSQL's comparison.  That is done where the engine's
 *		order is not confirmed or can't be refined, and rows can't be handed over.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_COMPARE_H
#define GPUSORT_SORT_COMPARE_H

#include "runs/runs.h"
#include "sort/sort_state.h"

static inline GpuSortRowKeys
gpusort_row_keys(const GpuSortSpec *spec)
{
	return (GpuSortRowKeys) {spec->nkeys, spec->attnos, spec->sortops, spec->collations,
		spec->nulls_first};
}

/* Returns whether the engine has found an order of all rows, be it the right one or not. */
static inline bool
gpusort_has_order(const GpuSort *sort)
{
	return sort->order.ids != NULL && sort->order.ready == sort->rows.count;
}

/*
 * Sort a stretch of the order, whose rows agree in the first parts of their keys.  If the sort is
 * to tell which rows are equal to the one before, mark those in the equal bitmap.
 */
extern void gpusort_sort_run_by_comparison(GpuSort *sort, uint32 *ids, uint32 n);

/*
 * Sort all rows, of which the engine has found an order.  Rows that are equal stay in the order of
 * arrival.
 */
extern void gpusort_sort_by_comparison(GpuSort *sort);

#endif							/* GPUSORT_SORT_COMPARE_H */
