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

/* One of the two rows that are compared. */
typedef struct GpuSortComparedRow
{
	const void *tuple;
	TupleTableSlot *slot;		/* holds a MinimalTuple; NULL for index tuples */
	Datum	   *values;			/* values of the key columns; they point into the tuple */
	bool	   *isnull;
} GpuSortComparedRow;

typedef struct GpuSortRowComparer
{
	TupleDesc	desc;
	bool		index_rows;
	int			nkeys;
	SortSupport keys;
	GpuSortComparedRow rows[2];
	MemoryContext context;		/* for what comparisons allocate */
} GpuSortRowComparer;

/* Initializes a comparer in the current memory context.  `desc` must live as long as it. */
extern void gpusort_row_comparer_begin(GpuSortRowComparer *comparer, TupleDesc desc,
									   const GpuSortRowKeys *keys, bool index_rows);

/* Loads a tuple as row `which` (0 or 1).  The tuple must stay until the comparison. */
extern void gpusort_row_comparer_load(GpuSortRowComparer *comparer, int which, const void *tuple);

/*
 * Compares the first ncolumns key columns of the two rows.  The result is negative if row 0 comes
 * first.
 */
extern int	gpusort_row_comparer_compare_first(GpuSortRowComparer *comparer, int ncolumns);

static inline int
gpusort_row_comparer_compare_keys(GpuSortRowComparer *comparer)
{
	return gpusort_row_comparer_compare_first(comparer, comparer->nkeys);
}

/* Compares all key columns, and then, of index tuples, TIDs. */
extern int	gpusort_row_comparer_compare(GpuSortRowComparer *comparer);

/* Drops the references to both tuples. */
extern void gpusort_row_comparer_clear(GpuSortRowComparer *comparer);

#endif							/* GPUSORT_ROW_COMPARER_H */
