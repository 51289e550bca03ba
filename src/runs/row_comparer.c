/*
 * row_comparer.c
 *		Comparing two stored rows; see runs.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/itup.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "pg_compat/executor.h"
#include "runs/runs.h"

void
gpusort_row_comparer_begin(GpuSortRowComparer *comparer, TupleDesc desc,
						   const GpuSortRowKeys *keys, bool index_rows)
{
	comparer->desc = desc;
	comparer->index_rows = index_rows;
	comparer->nkeys = keys->nkeys;
	comparer->keys = palloc0(keys->nkeys * sizeof(SortSupportData));
	for (int i = 0; i < keys->nkeys; i++)
	{
		SortSupport key = &comparer->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = keys->collations[i];
		key->ssup_nulls_first = keys->nulls_first[i];
		key->ssup_attno = keys->attnos[i];
		PrepareSortSupportFromOrderingOp(keys->sortops[i], key);
	}
	for (int i = 0; i < 2; i++)
	{
		comparer->rows[i].slot = index_rows ? NULL : gpusort_make_slot(desc, &TTSOpsMinimalTuple);
		comparer->rows[i].values = palloc(keys->nkeys * sizeof(Datum));
		comparer->rows[i].isnull = palloc(keys->nkeys * sizeof(bool));
	}
	comparer->context = AllocSetContextCreate(CurrentMemoryContext, "gpusort comparisons",
											  ALLOCSET_SMALL_SIZES);
}

void
gpusort_row_comparer_load(GpuSortRowComparer *comparer, int which, const void *tuple)
{
	GpuSortComparedRow *row = &comparer->rows[which];

	row->tuple = tuple;
	if (row->slot != NULL)
		ExecStoreMinimalTuple((MinimalTuple) tuple, row->slot, false);
	for (int i = 0; i < comparer->nkeys; i++)
	{
		AttrNumber	attno = comparer->keys[i].ssup_attno;

		row->values[i] = row->slot != NULL ? slot_getattr(row->slot, attno, &row->isnull[i])
			: index_getattr((IndexTuple) tuple, attno, comparer->desc, &row->isnull[i]);
	}
}

int
gpusort_row_comparer_compare_first(GpuSortRowComparer *comparer, int ncolumns)
{
	const GpuSortComparedRow *a = &comparer->rows[0];
	const GpuSortComparedRow *b = &comparer->rows[1];
	MemoryContext old = MemoryContextSwitchTo(comparer->context);
	int			cmp = 0;

	for (int i = 0; i < ncolumns && cmp == 0; i++)
		cmp = ApplySortComparator(a->values[i], a->isnull[i], b->values[i], b->isnull[i],
								  &comparer->keys[i]);
	MemoryContextSwitchTo(old);
	MemoryContextReset(comparer->context);
	return cmp;
}

int
gpusort_row_comparer_compare(GpuSortRowComparer *comparer)
{
	int			cmp = gpusort_row_comparer_compare_keys(comparer);

	if (cmp != 0 || !comparer->index_rows)
		return cmp;
	return ItemPointerCompare(&((IndexTuple) comparer->rows[0].tuple)->t_tid,
							  &((IndexTuple) comparer->rows[1].tuple)->t_tid);
}

void
gpusort_row_comparer_clear(GpuSortRowComparer *comparer)
{
	for (int i = 0; i < 2; i++)
		if (comparer->rows[i].slot != NULL)
			ExecClearTuple(comparer->rows[i].slot);
}
