/*
 * interrupts.h
 *		How often loops over rows check for interrupts.
 *
 * The dearest of these loops take a few microseconds a row: those that compare rows by a
 * collation, or make such keys.  So a cancel is served within milliseconds.  The
 * cheapest take a nanosecond a row, as does the check, which therefore costs a
 * thousandth.
 */
#ifndef GPUSORT_INTERRUPTS_H
#define GPUSORT_INTERRUPTS_H

/* CHECK_FOR_INTERRUPTS() once in so many rows; a power of two. */
#define GPUSORT_INTERRUPT_ROWS	1024

#endif							/* GPUSORT_INTERRUPTS_H */
