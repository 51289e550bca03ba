/*
 * percentile.h
 *		Percentiles of a group's values, as PostgreSQL computes them.
 */
#ifndef GPUSORT_PERCENTILE_H
#define GPUSORT_PERCENTILE_H

#include "exec/group_values.h"

/*
 * A percentile_cont() or percentile_disc() of values of a type, for one fraction or an array of
 * fractions, which may be null.
 */
typedef struct GpuSortPercentile
{
	bool		continuous;
	bool		is_array;
	Oid			type;			/* of the values */
} GpuSortPercentile;

extern Datum gpusort_compute_percentile(const GpuSortPercentile *percentile,
										GpuSortGroupValues *values, NullableDatum fraction,
										bool *isnull);

#endif							/* GPUSORT_PERCENTILE_H */
