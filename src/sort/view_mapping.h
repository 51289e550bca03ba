/*
 * view_mapping.h
 *		Mapping a view of another process's sort.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_VIEW_MAPPING_H
#define GPUSORT_VIEW_MAPPING_H

#include "sort/sort_view.h"

/* The pieces of a view that a process has mapped. */
typedef struct GpuSortViewMapping
{
	char	   *base[GPUSORT_VIEW_PIECES];
	uint32		extents[GPUSORT_VIEW_PIECES];
} GpuSortViewMapping;

/* Map a view that another process has published.  Returns false if the system does not map it. */
extern bool gpusort_attach_view(const GpuSortSharedView *shared, GpuSortView *view,
								GpuSortViewMapping *mapping);
extern void gpusort_detach_view(GpuSortViewMapping *mapping);

#endif							/* GPUSORT_VIEW_MAPPING_H */
