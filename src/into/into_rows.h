/*
 * into_rows.h
 *		Making tuples of a table from rows of a sorted result: computed, checked and formed as far
 *		as needed.
 */
#ifndef GPUSORT_INTO_ROWS_H
#define GPUSORT_INTO_ROWS_H

#include "executor/tuptable.h"

#include "into/into_target.h"

typedef struct GpuSortIntoRows
{
	bool		stored;			/* the result's tuples have the table's columns as they are */
	bool		may_fail;		/* a row may raise an error */
	ProjectionInfo *projection; /* computes the table's columns; NULL: they are the result's */
	ResultRelInfo *checked;		/* the table whose constraints are checked, or NULL */
	EState	   *estate;
	MemoryContext context;		/* where a tuple is formed */
} GpuSortIntoRows;

/*
 * Begins rows, allocated in the current context.  "desc" is the result's, and "stored" tells
 * whether the result's tuples have just the columns of "desc".
 */
extern void gpusort_into_begin_rows(GpuSortIntoRows *rows, const GpuSortIntoTarget *target,
									TupleDesc desc, bool stored);

extern void gpusort_into_end_rows(GpuSortIntoRows *rows);

/*
 * Returns the tuple for a row in a slot of minimal tuples, which is valid until the next call.
 * Raises the same errors as PostgreSQL.
 */
extern MinimalTuple gpusort_into_make_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot);

static inline MinimalTuple
gpusort_into_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	if (likely(rows->stored && !rows->may_fail))
		return ((MinimalTupleTableSlot *) slot)->mintuple;
	return gpusort_into_make_tuple(rows, slot);
}

#endif							/* GPUSORT_INTO_ROWS_H */
