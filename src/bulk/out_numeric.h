/*
 * out_numeric.h
 *		Writes numerics of few digits as numeric_out() and numeric_send() do.
 */
#ifndef GPUSORT_OUT_NUMERIC_H
#define GPUSORT_OUT_NUMERIC_H

#include "postgres.h"

/*
 * GpuSortOutWriters for numeric_out() and numeric_send().  They return NULL if the value needs too
 * many bytes, or is NaN or infinite.
 */
extern char *gpusort_out_write_numeric(char *at, Datum value);
extern char *gpusort_out_send_numeric(char *at, Datum value);

#endif							/* GPUSORT_OUT_NUMERIC_H */
