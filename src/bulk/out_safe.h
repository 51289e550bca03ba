/*
 * out_safe.h
 *		Decides whether parallel workers may write rows.
 */
#ifndef GPUSORT_OUT_SAFE_H
#define GPUSORT_OUT_SAFE_H

#include "bulk/out_format.h"

/*
 * Returns whether workers would write the same bytes as the leader, and all functions called for
 * that are parallel safe.
 */
extern bool gpusort_out_is_parallel_safe(const GpuSortOutFormat *format,
										 const GpuSortOutColumn *columns);

#endif							/* GPUSORT_OUT_SAFE_H */
