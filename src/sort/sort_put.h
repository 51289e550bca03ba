/*
 * sort_put.h
 *		Putting rows: what the caller of a sort puts into it.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_PUT_H
#define GPUSORT_SORT_PUT_H

#include "sort/row_columns.h"
#include "sort/sort.h"

/* Put a row into a sort.  The slot's contents are copied. */
extern void gpusort_put_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * Put a row into a part (sort_parts.h).  Returns false if there is no room for the row, or no
 * encoding.  gpusort_put_heap_tuple() and gpusort_put_index_values() are for parts as well.
 */
extern bool gpusort_put_part_slot(GpuSort *part, TupleTableSlot *slot);

/*
 * Put a row into a sort that is never handed over (gpusort_begin_optional()).  Returns false if the
 * sort must be given up, for the reason that its statistics give.
 */
extern bool gpusort_put_optional_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * Put a tuple on a page, of a table whose descriptor is the sort's.  Returns false if that is not
 * possible without deforming the tuple; it must come in a slot then.
 */
extern bool gpusort_put_heap_tuple(GpuSort *sort, HeapTuple tuple);

/*
 * Say that tuples on pages, from now on, are rows as they lie.  That is assumed in the beginning,
 * so the sort of one table need not call it.
 */
extern void gpusort_select_tuples(GpuSort *sort);

/*
 * gpusort_select_columns() says that rows, from now on, are made of columns of tuples on pages,
 * together with other values; `columns` must stay.  It returns false if the sort can't make such
 * rows.  gpusort_put_heap_columns() then puts the row made of a tuple on a page and of the present
 * values.  It returns false if the row must come in a slot.
 */
extern bool gpusort_select_columns(GpuSort *sort, const GpuSortRowColumns *columns);
extern bool gpusort_put_heap_columns(GpuSort *sort, HeapTuple tuple);

/*
 * Form the index tuple of a row and put it.  Returns false if the sort must be given up.  Rows that
 * are not alive don't count for uniqueness: see gpusort_tuple_is_dead().
 */
extern bool gpusort_put_index_values(GpuSort *sort, const Datum *values, const bool *isnull,
									 ItemPointer tid, bool alive);

/*
 * Put an index tuple that another index sort has stored.  Returns false if the sort must be given
 * up.
 */
extern bool gpusort_put_index_tuple(GpuSort *sort, IndexTuple tuple);

/*
 * Put a tuple that a sort has stored and written to a run.  It does not count as another row.
 * Returns false if there is no room for it.
 */
extern bool gpusort_put_stored_tuple(GpuSort *sort, const void *tuple);

#endif							/* GPUSORT_SORT_PUT_H */
