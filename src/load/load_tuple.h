/*
 * load_tuple.h
 *		Making a heap tuple of values, with the same bytes as heap_form_tuple().
 */
#ifndef GPUSORT_LOAD_TUPLE_H
#define GPUSORT_LOAD_TUPLE_H

#include "access/htup_details.h"

#include "load/load_columns.h"
#include "load/load_value.h"

/* What has to be known of a tuple before there is room for it. */
typedef struct GpuSortTupleSize
{
	bool		has_null;
	uint8		header;			/* bytes, with the null bitmap */
	Size		total;			/* bytes, with the header */
} GpuSortTupleSize;

/* Computes the size of the tuple that gpusort_tuple_fill() makes of these values. */
extern void gpusort_tuple_measure(const GpuSortLoadAttribute *attributes,
								  const GpuSortLoadValue *values, int natts,
								  GpuSortTupleSize *size);

/*
 * Fills a tuple with values.  The caller has filled its header as the headers of all tuples of the
 * table, with t_infomask2; the header's t_hoff and the bytes behind the header are still zero.
 */
extern void gpusort_tuple_fill(const GpuSortLoadAttribute *attributes,
							   const GpuSortLoadValue *values, int natts,
							   const GpuSortTupleSize *size, HeapTupleHeader tuple);

#endif							/* GPUSORT_LOAD_TUPLE_H */
