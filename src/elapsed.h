/*
 * elapsed.h
 *		Measuring how long something took.
 */
#ifndef GPUSORT_ELAPSED_H
#define GPUSORT_ELAPSED_H

#include "portability/instr_time.h"

/* Returns the time since `start`, which INSTR_TIME_SET_CURRENT() has set. */
static inline instr_time
gpusort_elapsed(instr_time start)
{
	instr_time	elapsed;

	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	return elapsed;
}

/* Adds the time since `start` to `total`. */
static inline void
gpusort_add_elapsed(instr_time *total, instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_ACCUM_DIFF(*total, now, start);
}

#endif							/* GPUSORT_ELAPSED_H */
