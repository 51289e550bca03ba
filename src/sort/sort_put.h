/*
 * sort_put.h
 *		Rows in: what the caller of a sort puts into it.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_PUT_H
#define GPUSORT_SORT_PUT_H

#include "sort/row_columns.h"
#include "sort/sort.h"

/* Take a row in; the slot's contents are copied. */
extern void gpusort_put_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * The same for a part (sort_parts.h); false if there is no room for the row, or no
 * encoding.  gpusort_put_heap_tuple() and gpusort_put_index_values() go for parts as well.
 */
extern bool gpusort_put_part_slot(GpuSort *part, TupleTableSlot *slot);

/*
 * The same for a sort that is never handed over (gpusort_begin_optional()); false if it must be
 * given up, which its statistics give the reason for.
 */
extern bool gpusort_put_optional_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * Take in a tuple on a page, of a table whose descriptor is the sort's, if
 * that is possible without deforming it; false if not (use a slot then).
 */
extern bool gpusort_put_heap_tuple(GpuSort *sort, HeapTuple tuple);

/*
 * Tell what tuples on pages are from now on: rows.  For the sort of one table that is so from the
 * beginning.
 */
extern void gpusort_select_tuples(GpuSort *sort);

/*
 * Or what rows are made of, together with other values; false if that can't be.  columns must
 * stay.  Then take in the row that a tuple on a page makes, with the values that are there now;
 * false if it has to come as a row.
 */
extern bool gpusort_select_columns(GpuSort *sort, const GpuSortRowColumns *columns);
extern bool gpusort_put_heap_columns(GpuSort *sort, HeapTuple tuple);

/*
 * Form the index tuple of a row and take it in; false if the sort must be given
 * up.  Rows that are not alive don't count for uniqueness: see
 * gpusort_tuple_is_dead().
 */
extern bool gpusort_put_index_values(GpuSort *sort, const Datum *values, const bool *isnull,
									 ItemPointer tid, bool alive);

/* Take in an index tuple that another such sort has stored; false as above. */
extern bool gpusort_put_index_tuple(GpuSort *sort, IndexTuple tuple);

/*
 * Take in a tuple that such a sort has stored and written to a run; false if there is no room.  It
 * does not count as another row.
 */
extern bool gpusort_put_stored_tuple(GpuSort *sort, const void *tuple);

#endif							/* GPUSORT_SORT_PUT_H */
