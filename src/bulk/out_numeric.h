/*
 * out_numeric.h
 *		Numerics of few digits as numeric_out() and numeric_send() write them.
 */
#ifndef GPUSORT_OUT_NUMERIC_H
#define GPUSORT_OUT_NUMERIC_H

#include "postgres.h"

/* See out_values.h; NULL if it would be too many bytes, or is no number. */
extern char *gpusort_out_write_numeric(char *at, Datum value);
extern char *gpusort_out_send_numeric(char *at, Datum value);

#endif							/* GPUSORT_OUT_NUMERIC_H */
