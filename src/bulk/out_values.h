/*
 * out_values.h
 *		Writes values of few bytes as the types' output and send functions do.
 *
 * A writer writes the function's result, byte by byte.  Where only the function itself can do that,
 * the writer returns NULL: for infinite times, years without exactly four digits, date styles other
 * than ISO, interval styles other than PostgreSQL's, and numerics of many digits.
 */
#ifndef GPUSORT_OUT_VALUES_H
#define GPUSORT_OUT_VALUES_H

#include "postgres.h"

/* Number of bytes that a writer may write. */
#define GPUSORT_OUT_VALUE_BYTES 96

/* Write a value, without a terminating zero.  Returns the end of what was written, or NULL. */
typedef char *(*GpuSortOutWriter) (char *at, Datum value);

/*
 * Returns the writer that does the same as the type's function, or NULL if there is none.  Writers
 * for output functions write only letters, digits and "+-.: ".
 */
extern GpuSortOutWriter gpusort_out_writer(Oid function);

#endif							/* GPUSORT_OUT_VALUES_H */
