/*
 * calibrate_machine.h
 *		Timing what sorts are compared with, and what they need, for gpusort_calibrate().
 */
#ifndef GPUSORT_CALIBRATE_MACHINE_H
#define GPUSORT_CALIBRATE_MACHINE_H

/*
 * Returns the nanoseconds that it takes to count one row of a catalog that is in the cache, the
 * least of `repeat` measurements.  The planner charges cpu_tuple_cost and cpu_operator_cost for the
 * same.
 */
extern double gpusort_time_scan(int repeat);

/*
 * Returns the nanoseconds for touching a byte of memory for the first time; 0 if there is no
 * memory.
 */
extern double gpusort_time_fresh_memory(void);

/*
 * Returns the nanoseconds that parallel workers which do nothing take, from the call for the first
 * to the end of the last, as the least of `repeat` measurements.  There are as many workers as a
 * Gather has at most.  Returns NAN if they can't be had.
 */
extern double gpusort_time_workers(int repeat);

#endif							/* GPUSORT_CALIBRATE_MACHINE_H */
