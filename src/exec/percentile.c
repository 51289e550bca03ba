/*
 * percentile.c
 *		Percentiles of a group's values, as PostgreSQL computes them; see percentile.h.
 *
 * Results are the same as PostgreSQL's to the last bit, and so are errors and the order of checks:
 * a single fraction is checked before the values are counted, an array only if there are values.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "exec/percentile.h"

static void
check_fraction(double fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

/* Interpolates between two values of float8 or interval, the only types of percentile_cont(). */
static Datum
interpolate(Oid type, Datum low, Datum high, double share)
{
	if (type == FLOAT8OID)
	{
		double		from = DatumGetFloat8(low);
		double		to = DatumGetFloat8(high);

		return Float8GetDatum(from + (share * (to - from)));
	}
	high = DirectFunctionCall2(interval_mi, high, low);
	high = DirectFunctionCall2(interval_mul, high, Float8GetDatum(share));
	return DirectFunctionCall2(interval_pl, high, low);
}

/* Returns the percentile for one fraction.  There must be values. */
static Datum
one_percentile(const GpuSortPercentile *percentile, GpuSortGroupValues *values, double fraction)
{
	double		place;
	Datum		low;

	if (!percentile->continuous)
	{
		/*
		 * the first value whose number, counted from 1, is at least this fraction of their number
		 */
		int64		rows = (int64) ceil(fraction * (int64) values->nvalues);

		return gpusort_group_value(values, Max(rows, 1) - 1);
	}
	place = fraction * ((int64) values->nvalues - 1);
	low = gpusort_group_value(values, (uint64) floor(place));
	if (floor(place) == ceil(place))
		return low;
	return interpolate(percentile->type, low, gpusort_group_value(values, (uint64) ceil(place)),
					   place - floor(place));
}

/* Returns an array of percentiles with the same shape as the array of fractions. */
static Datum
several_percentiles(const GpuSortPercentile *percentile, GpuSortGroupValues *values,
					ArrayType *fractions)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int16		length;
	bool		by_value;
	char		align;

	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE,
					  &elements, &nulls, &count);
	if (count == 0)
		return PointerGetDatum(construct_empty_array(percentile->type));
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			check_fraction(DatumGetFloat8(elements[i]));
	}
	for (int i = 0; i < count; i++)
	{
		if (!nulls[i])
			elements[i] = one_percentile(percentile, values, DatumGetFloat8(elements[i]));
	}
	get_typlenbyvalalign(percentile->type, &length, &by_value, &align);
	return PointerGetDatum(construct_md_array(elements, nulls, ARR_NDIM(fractions),
											  ARR_DIMS(fractions), ARR_LBOUND(fractions),
											  percentile->type, length, by_value, align));
}

Datum
gpusort_compute_percentile(const GpuSortPercentile *percentile, GpuSortGroupValues *values,
						   NullableDatum fraction, bool *isnull)
{
	if (!percentile->is_array && !fraction.isnull)
		check_fraction(DatumGetFloat8(fraction.value));
	*isnull = fraction.isnull || values->nvalues == 0;
	if (*isnull)
		return (Datum) 0;
	if (percentile->is_array)
		return several_percentiles(percentile, values, DatumGetArrayTypeP(fraction.value));
	return one_percentile(percentile, values, DatumGetFloat8(fraction.value));
}
