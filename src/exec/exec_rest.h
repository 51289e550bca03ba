/*
 * exec_rest.h
 *		Queries that stop in the middle of their rows: cursors between two FETCHes.
 *
 * Meanwhile their sorts must not hold what others wait for.
 */
#ifndef GPUSORT_EXEC_REST_H
#define GPUSORT_EXEC_REST_H

extern void gpusort_install_executor_hook(void);

#endif							/* GPUSORT_EXEC_REST_H */
