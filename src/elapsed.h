/*
 * elapsed.h
 *		How long something took.
 */
#ifndef GPUSORT_ELAPSED_H
#define GPUSORT_ELAPSED_H

#include "portability/instr_time.h"

/* The time since `start`, which INSTR_TIME_SET_CURRENT() has set. */
static inline instr_time
gpusort_elapsed(instr_time start)
{
	instr_time	elapsed;

	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	return elapsed;
}

#endif							/* GPUSORT_ELAPSED_H */
