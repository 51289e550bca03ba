/*
 * fallback.c
 *		Why gpusortd does not sort what it should; see fallback.h.
 */
#include "postgres.h"

#include "service/fallback.h"

static const struct
{
	const char *why;
	GpuSortFallback cause;
}			causes[] = {
	{GPUSORT_WHY_STARTING, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_DOWN, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_OFF, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_NOT_TAKEN, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_BUSY, GPUSORT_FALLBACK_BUSY},
	{GPUSORT_WHY_MANY, GPUSORT_FALLBACK_BUSY},
	{GPUSORT_WHY_FULL, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_OUTSIDE, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_NO_ROOM, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_NO_SPACE, GPUSORT_FALLBACK_MEMORY},
};

GpuSortFallback
gpusort_fallback_cause(const char *why)
{
	for (int i = 0; i < lengthof(causes); i++)
		if (strcmp(why, causes[i].why) == 0)
			return causes[i].cause;
	return GPUSORT_FALLBACK_FAILED;
}
