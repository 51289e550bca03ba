/*
 * row_comparer.h
 *		Comparing two stored rows with the operator classes' own comparisons.
 *
 * Index tuples that are equal in all key columns are compared by their TIDs, so no two are equal.
 *
 * Public: sort includes it.
 */
#ifndef GPUSORT_ROW_COMPARER_H
#define GPUSORT_ROW_COMPARER_H

#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "utils/sortsupport.h"

/* The columns to be compared, as in a Sort plan node. */
typedef struct GpuSortRowKeys
{
	int			nkeys;
	const AttrNumber *attnos;
	const Oid  *sortops;
	const Oid  *collations;
	const bool *nulls_first;
} GpuSortRowKeys;

/* A row of two that are compared. */
typedef struct GpuSortComparedRow
{
	const void *tuple;
	TupleTableSlot *slot;		/* of a MinimalTuple */
	Datum	   *values;			/* of the key columns, in the tuple */
	bool	   *isnull;
} GpuSortComparedRow;

typedef struct GpuSortRowComparer
{
	TupleDesc	desc;
	bool		index_rows;
	int			nkeys;
	SortSupport keys;
	GpuSortComparedRow rows[2];
	MemoryContext context;		/* what comparisons allocate */
} GpuSortRowComparer;

/* In the current context; desc must live as long. */
extern void gpusort_row_comparer_begin(GpuSortRowComparer *comparer, TupleDesc desc,
									   const GpuSortRowKeys *keys, bool index_rows);

/* Row `which` of the two is this tuple, which must stay until the comparison. */
extern void gpusort_row_comparer_load(GpuSortRowComparer *comparer, int which, const void *tuple);

/* Are their first key columns in this order, or all of them?  Negative: row 0 is less. */
extern int	gpusort_row_comparer_compare_first(GpuSortRowComparer *comparer, int ncolumns);

static inline int
gpusort_row_comparer_compare_keys(GpuSortRowComparer *comparer)
{
	return gpusort_row_comparer_compare_first(comparer, comparer->nkeys);
}

/* ... and their TIDs, of index tuples. */
extern int	gpusort_row_comparer_compare(GpuSortRowComparer *comparer);

/* Refer to no tuple any more. */
extern void gpusort_row_comparer_clear(GpuSortRowComparer *comparer);

#endif							/* GPUSORT_ROW_COMPARER_H */
