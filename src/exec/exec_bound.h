/*
 * exec_bound.h
 *		Telling GpuSorts which Limit takes their rows.
 */
#ifndef GPUSORT_EXEC_BOUND_H
#define GPUSORT_EXEC_BOUND_H

extern void gpusort_install_bound_hook(void);

#endif							/* GPUSORT_EXEC_BOUND_H */
