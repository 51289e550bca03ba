/*
 * row_store_columns.h
 *		Storing rows that are made of a table's tuples.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_COLUMNS_H
#define GPUSORT_ROW_STORE_COLUMNS_H

#include "sort/row_columns.h"
#include "sort/row_store.h"

/* As gpusort_select_columns(), and gpusort_select_tuples(). */
extern bool gpusort_row_store_select(GpuSort *sort, const GpuSortRowColumns *columns);
extern void gpusort_row_store_select_none(GpuSort *sort);

/*
 * The attribute of the table that column attno is, and its place as gpusort_fixed_offset(), which is
 * -1 also if it is none.
 */
extern AttrNumber gpusort_row_store_selected(const GpuSort *sort, AttrNumber attno, int *offset);

/*
 * Where the values of a row are, by column, of the columns selected of a tuple on a page; NULL:
 * null.  Of sort columns.  False if the tuple is shorter than the table's are.
 */
extern bool gpusort_row_store_find_columns(GpuSort *sort, HeapTuple tuple, const char **found);

/*
 * Store the columns selected of a tuple on a page.  *offsets is where they lie in
 * the row, which is their source, 0 for nulls, of sort columns; valid until the next one.  False, and no
 * trace, if there is no room, or if the tuple is shorter than the table's are.
 */
extern bool gpusort_row_store_put_columns(GpuSort *sort, HeapTuple tuple,
										  GpuSortStoredRow *row, const uint32 **offsets);

#endif							/* GPUSORT_ROW_STORE_COLUMNS_H */
