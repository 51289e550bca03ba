/*
 * index_fault.h
 *		Places where tests can make an index build pause (gpusort.inject_fault).
 */
#ifndef GPUSORT_INDEX_FAULT_H
#define GPUSORT_INDEX_FAULT_H

/*
 * The ends of phases where a build can pause.  A number is the second key of an advisory lock,
 * (4753, number).
 */
typedef enum GpuSortPausePlace
{
	GPUSORT_PAUSE_SCANNED = 1,
	GPUSORT_PAUSE_SORTED,
	GPUSORT_PAUSE_CHECKED,
	GPUSORT_PAUSE_WRITTEN
} GpuSortPausePlace;

/*
 * Wait while another session holds the advisory lock of this place, so that a test can look at the
 * build.
 */
extern void gpusort_fault_pause(GpuSortPausePlace place);

#endif							/* GPUSORT_INDEX_FAULT_H */
