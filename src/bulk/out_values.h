/*
 * out_values.h
 *		Values of few bytes as the types' output and send functions write them.
 *
 * What is written is the function's result, byte by byte.  Where that takes the function itself,
 * a writer says so by returning NULL: infinite times, years of other than four digits, formats of
 * dates other than ISO's and of intervals other than PostgreSQL's, numerics of many digits.
 */
#ifndef GPUSORT_OUT_VALUES_H
#define GPUSORT_OUT_VALUES_H

#include "postgres.h"

/* Bytes that a writer may write. */
#define GPUSORT_OUT_VALUE_BYTES 96

/* Write a value, without a terminating zero; returns where it ends, or NULL. */
typedef char *(*GpuSortOutWriter) (char *at, Datum value);

/*
 * What does the same as the function; NULL: nothing here.  Output functions for which there is
 * something write letters, digits and "+-.: " only.
 */
extern GpuSortOutWriter gpusort_out_writer(Oid function);

#endif							/* GPUSORT_OUT_VALUES_H */
