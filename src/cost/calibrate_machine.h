/*
 * calibrate_machine.h
 *		Timing what sorts are compared with, and what they need, for gpusort_calibrate().
 */
#ifndef GPUSORT_CALIBRATE_MACHINE_H
#define GPUSORT_CALIBRATE_MACHINE_H

/*
 * Nanoseconds a row of counting the rows of a catalog that is in the cache, for which
 * the planner charges cpu_tuple_cost and cpu_operator_cost.
 */
extern double gpusort_time_scan(int repeat);

/* Nanoseconds for touching a byte of memory for the first time. */
extern double gpusort_time_fresh_memory(void);

/*
 * Nanoseconds for as many parallel workers as a Gather has, which do nothing, from the call for
 * the first to the end of the last; NAN if they are not to be had.
 */
extern double gpusort_time_workers(int repeat);

#endif							/* GPUSORT_CALIBRATE_MACHINE_H */
