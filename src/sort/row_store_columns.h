/*
 * row_store_columns.h
 *		Storing rows that are made of a table's tuples.
 *
 * Rows may be made of columns of a table's tuples and of other values (sort.h).  What it
 * takes to make them of the tuples of one table is a GpuSortSelection.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_COLUMNS_H
#define GPUSORT_ROW_STORE_COLUMNS_H

#include "sort/row_store.h"
#include "sort/sort.h"

/* Do what gpusort_select_columns() and gpusort_select_tuples() say (sort.h). */
extern bool gpusort_row_store_select(GpuSort *sort, const GpuSortRowColumns *columns);
extern void gpusort_row_store_select_none(GpuSort *sort);

/*
 * Returns the number of the table's attribute that column attno of the rows is copied from, and in
 * *offset its place as gpusort_fixed_offset() tells it.  *offset is -1 also if the column is one of
 * the other values.
 */
extern AttrNumber gpusort_row_store_selected(const GpuSort *sort, AttrNumber attno, int *offset);

/*
 * Finds the values of the row that a tuple on a page makes, without storing it.  Sets found[] by
 * column to where each value lies, or to NULL for a null; only the entries of sort columns are
 * valid.  Returns false if the tuple has fewer attributes than are selected.
 */
extern bool gpusort_row_store_find_columns(GpuSort *sort, HeapTuple tuple, const char **found);

/*
 * Stores the row that a tuple on a page makes.  Sets *offsets to an array that tells by column
 * where each value lies in the row, or 0 for a null; only the entries of sort columns are valid,
 * and only until the next row is stored.  The source of *row is the stored row itself.  Returns
 * false, and leaves no trace, if there is no room, or if the tuple has fewer attributes than are
 * selected.
 */
extern bool gpusort_row_store_put_columns(GpuSort *sort, HeapTuple tuple,
										  GpuSortStoredRow *row, const uint32 **offsets);

#endif							/* GPUSORT_ROW_STORE_COLUMNS_H */
