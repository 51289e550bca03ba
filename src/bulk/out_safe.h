/*
 * out_safe.h
 *		Whether rows may be written by parallel workers.
 */
#ifndef GPUSORT_OUT_SAFE_H
#define GPUSORT_OUT_SAFE_H

#include "bulk/out_format.h"

/* Do workers write the same bytes, and are all functions for that parallel safe? */
extern bool gpusort_out_is_parallel_safe(const GpuSortOutFormat *format,
										 const GpuSortOutColumn *columns);

#endif							/* GPUSORT_OUT_SAFE_H */
