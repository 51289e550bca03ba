/*
 * exec_start.h
 *		Queries whose nodes have been made: what a GpuSort can't see from where it stands.
 *
 * Which Limit takes its rows (exec_bound.h), and whether anybody wants the columns that are only
 * sorted by (exec_junk.h).
 */
#ifndef GPUSORT_EXEC_START_H
#define GPUSORT_EXEC_START_H

extern void gpusort_install_start_hook(void);

#endif							/* GPUSORT_EXEC_START_H */
