/*
 * index_fault.h
 *		Where tests can have index builds stand still (gpusort.inject_fault).
 */
#ifndef GPUSORT_INDEX_FAULT_H
#define GPUSORT_INDEX_FAULT_H

/* Ends of phases; their numbers are the places of the advisory lock (4753, place). */
typedef enum GpuSortPausePlace
{
	GPUSORT_PAUSE_SCANNED = 1,
	GPUSORT_PAUSE_SORTED,
	GPUSORT_PAUSE_CHECKED,
	GPUSORT_PAUSE_WRITTEN
} GpuSortPausePlace;

/* Stand still, to be looked at, while another session has the place's lock. */
extern void gpusort_fault_pause(GpuSortPausePlace place);

#endif							/* GPUSORT_INDEX_FAULT_H */
