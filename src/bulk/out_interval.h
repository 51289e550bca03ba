/*
 * out_interval.h
 *		Writes intervals as interval_out() does in PostgreSQL's style.
 */
#ifndef GPUSORT_OUT_INTERVAL_H
#define GPUSORT_OUT_INTERVAL_H

#include "postgres.h"

/*
 * A GpuSortOutWriter for interval_out().  Returns NULL if the style is another one or the interval
 * may be infinite.
 */
extern char *gpusort_out_write_interval(char *at, Datum value);

#endif							/* GPUSORT_OUT_INTERVAL_H */
