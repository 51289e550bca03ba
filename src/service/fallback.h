/*
 * fallback.h
 *		Why gpusortd does not sort what it should.
 *
 * A reason is a text, for EXPLAIN and the log.  For statistics, each reason has one of four causes.
 */
#ifndef GPUSORT_FALLBACK_H
#define GPUSORT_FALLBACK_H

typedef enum GpuSortFallback
{
	GPUSORT_FALLBACK_DOWN,		/* gpusortd is not running */
	GPUSORT_FALLBACK_BUSY,		/* gpusortd is busy with other sorts */
	GPUSORT_FALLBACK_MEMORY,	/* the pool or address space is too small */
	GPUSORT_FALLBACK_FAILED		/* gpusortd has failed at the job, or does not answer */
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

/* Returns the cause of a reason; a text that is not listed above is a failure. */
extern GpuSortFallback gpusort_fallback_cause(const char *why);

#endif							/* GPUSORT_FALLBACK_H */
