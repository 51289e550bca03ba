/*
 * interrupts.h
 *		How often loops over rows check for interrupts.
 *
 * The most expensive of these loops take a few microseconds a row: those that compare rows by a
 * collation, or make keys of collated strings.  So a cancel is served within milliseconds.  The
 * cheapest loops take a nanosecond a row.  The check takes as long, and so, once in
 * GPUSORT_INTERRUPT_ROWS rows, costs a thousandth of such a loop.
 */
#ifndef GPUSORT_INTERRUPTS_H
#define GPUSORT_INTERRUPTS_H

/* Loops call CHECK_FOR_INTERRUPTS() once in so many rows; a power of two. */
#define GPUSORT_INTERRUPT_ROWS	1024

#endif							/* GPUSORT_INTERRUPTS_H */
