/*
 * row_columns.h
 *		What rows consist of that are made of a table's tuples.
 *
 * Public, as a part of sort_put.h.
 */
#ifndef GPUSORT_ROW_COLUMNS_H
#define GPUSORT_ROW_COLUMNS_H

#include "access/attnum.h"
#include "access/tupdesc.h"

typedef struct GpuSortRowColumns
{
	TupleDesc	table;
	int			ncolumns;
	AttrNumber *attnos;			/* of the table's attribute; 0: the next of the values */

	/* values of the current row that don't come from the table */
	int			nvalues;
	Datum	   *values;			/* flat, if they are varlenas */
	bool	   *isnull;
} GpuSortRowColumns;

#endif							/* GPUSORT_ROW_COLUMNS_H */
