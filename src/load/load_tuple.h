/*
 * load_tuple.h
 *		Values into a heap tuple: the bytes that heap_form_tuple() makes.
 */
#ifndef GPUSORT_LOAD_TUPLE_H
#define GPUSORT_LOAD_TUPLE_H

#include "access/htup_details.h"

#include "load/load_columns.h"
#include "load/load_value.h"

/* What is to be known before there is room for it. */
typedef struct GpuSortTupleSize
{
	bool		has_null;
	uint8		header;			/* bytes, with the null bitmap */
	Size		total;			/* bytes, with the header */
} GpuSortTupleSize;

extern void gpusort_tuple_measure(const GpuSortLoadAttribute *attributes, const GpuSortLoadValue *values,
								  int natts, GpuSortTupleSize *size);

/*
 * Fill a tuple whose header has t_infomask2, and which is zero behind that.
 */
extern void gpusort_tuple_fill(const GpuSortLoadAttribute *attributes, const GpuSortLoadValue *values,
							   int natts, const GpuSortTupleSize *size, HeapTupleHeader tuple);

#endif							/* GPUSORT_LOAD_TUPLE_H */
