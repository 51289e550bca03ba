/*
 * out_fields.h
 *		The values of a row that are written, in its slot.
 *
 * Of rows without nulls, as they are stored, they are found here with less than the server takes.
 */
#ifndef GPUSORT_OUT_FIELDS_H
#define GPUSORT_OUT_FIELDS_H

#include "executor/tuptable.h"

#include "bulk/out_format.h"

typedef struct GpuSortOutFields GpuSortOutFields;

/* For any number of rows with these columns; in the current memory context. */
extern GpuSortOutFields *gpusort_out_begin_fields(int ncolumns, const GpuSortOutColumn *columns);

/* Put the columns' values into the slot; what it says of others is not to be relied on then. */
extern void gpusort_out_get_fields(GpuSortOutFields *fields, TupleTableSlot *slot);

#endif							/* GPUSORT_OUT_FIELDS_H */
