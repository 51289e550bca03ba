/*
 * into_rows.h
 *		Rows of a sorted result into tuples of a table: computed, checked, formed, as far as needed.
 */
#ifndef GPUSORT_INTO_ROWS_H
#define GPUSORT_INTO_ROWS_H

#include "executor/tuptable.h"

#include "into/into_target.h"

typedef struct GpuSortIntoRows
{
	bool		stored;			/* the result's tuples are the table's */
	bool		may_fail;		/* a row can raise an error */
	ProjectionInfo *projection; /* computes the table's columns, if they are not the result's */
	ResultRelInfo *checked;		/* whose constraints are checked, or NULL */
	EState	   *estate;
	MemoryContext context;		/* of a tuple that is formed */
} GpuSortIntoRows;

/*
 * In the current context.  "desc" is the result's, "stored" whether its tuples have just these columns.
 */
extern void gpusort_into_begin_rows(GpuSortIntoRows *rows, const GpuSortIntoTarget *target,
									TupleDesc desc, bool stored);

extern void gpusort_into_end_rows(GpuSortIntoRows *rows);

/* The tuple of a row in a slot of minimal tuples, until the next one.  Raises PostgreSQL's errors. */
extern MinimalTuple gpusort_into_make_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot);

static inline MinimalTuple
gpusort_into_tuple(GpuSortIntoRows *rows, TupleTableSlot *slot)
{
	if (likely(rows->stored && !rows->may_fail))
		return ((MinimalTupleTableSlot *) slot)->mintuple;
	return gpusort_into_make_tuple(rows, slot);
}

#endif							/* GPUSORT_INTO_ROWS_H */
