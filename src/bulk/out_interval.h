/*
 * out_interval.h
 *		Intervals as interval_out() writes them in PostgreSQL's style.
 */
#ifndef GPUSORT_OUT_INTERVAL_H
#define GPUSORT_OUT_INTERVAL_H

#include "postgres.h"

/* See out_values.h; NULL: another style, or what may be infinite. */
extern char *gpusort_out_write_interval(char *at, Datum value);

#endif							/* GPUSORT_OUT_INTERVAL_H */
