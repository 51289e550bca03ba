/*
 * index_fault.h
 *		What tests can have go wrong, or stand still, in index builds
 *		(gpusort.inject_fault).
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

/* Before a part of something: fail if this is a worker, or pause for a while. */
extern void gpusort_fault_in_part(const char *part);

#endif							/* GPUSORT_INDEX_FAULT_H */
