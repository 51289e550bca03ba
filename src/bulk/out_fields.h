/*
 * out_fields.h
 *		Gets the values of a row that are written, in its slot.
 *
 * For rows without nulls that the slot shows as they are stored, this is cheaper than the server's
 * deforming.
 */
#ifndef GPUSORT_OUT_FIELDS_H
#define GPUSORT_OUT_FIELDS_H

#include "executor/tuptable.h"

#include "bulk/out_format.h"

typedef struct GpuSortOutFields GpuSortOutFields;

/*
 * Prepare to get values of rows with these columns, any number of them, in the current memory
 * context.
 */
extern GpuSortOutFields *gpusort_out_begin_fields(int ncolumns, const GpuSortOutColumn *columns);

/*
 * Put the columns' values into the slot's tts_values and tts_isnull.  Its other values must not be
 * relied on afterwards.
 */
extern void gpusort_out_get_fields(GpuSortOutFields *fields, TupleTableSlot *slot);

#endif							/* GPUSORT_OUT_FIELDS_H */
