/*
 * row_columns.h
 *		What rows consist of that are made of a table's tuples.
 *
 * A row is made of a tuple of the table and of values that were computed from it.  Each column of
 * the row is either an attribute of the tuple or one of the values.
 *
 * Public, as a part of sort_put.h.
 */
#ifndef GPUSORT_ROW_COLUMNS_H
#define GPUSORT_ROW_COLUMNS_H

#include "access/attnum.h"
#include "access/tupdesc.h"

typedef struct GpuSortRowColumns
{
	TupleDesc	table;			/* descriptor of the tuples */
	int			ncolumns;		/* of the rows */
	/* by column: number of the table's attribute, or 0 for the next of the values */
	AttrNumber *attnos;

	/* the values of the current row, set anew for each tuple */
	int			nvalues;
	Datum	   *values;			/* varlenas among them must not be expanded objects */
	bool	   *isnull;
} GpuSortRowColumns;

#endif							/* GPUSORT_ROW_COLUMNS_H */
