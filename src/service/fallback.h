/*
 * fallback.h
 *		Why gpusortd does not sort what it should.
 *
 * A reason is a text, for EXPLAIN and the log; statistics tell four causes apart.
 */
#ifndef GPUSORT_FALLBACK_H
#define GPUSORT_FALLBACK_H

typedef enum GpuSortFallback
{
	GPUSORT_FALLBACK_DOWN,		/* it is not there */
	GPUSORT_FALLBACK_BUSY,		/* with others' sorts */
	GPUSORT_FALLBACK_MEMORY,	/* of the pool, or address space */
	GPUSORT_FALLBACK_FAILED		/* it has begun and failed, or does not answer */
} GpuSortFallback;

#define GPUSORT_WHY_STARTING	"gpusortd is starting"
#define GPUSORT_WHY_DOWN		"gpusortd is not running"
#define GPUSORT_WHY_OFF			"gpusortd has been switched off"
#define GPUSORT_WHY_NOT_TAKEN	"gpusortd did not take the job"
#define GPUSORT_WHY_BUSY		"gpusortd is busy with other sorts"
#define GPUSORT_WHY_MANY		"too many sorts at a time"
#define GPUSORT_WHY_FULL		"the pool is full"
#define GPUSORT_WHY_OUTSIDE		"not all of the sort lies in the pool"
#define GPUSORT_WHY_NO_ROOM		"there is no memory for the result"
#define GPUSORT_WHY_NO_SPACE	"there is no address space"

/* What a reason is caused by; one that is not listed here is a failure. */
extern GpuSortFallback gpusort_fallback_cause(const char *why);

#endif							/* GPUSORT_FALLBACK_H */
