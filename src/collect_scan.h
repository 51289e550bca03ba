/*
 * collect_scan.h
 *		Draining the input of a sort.
 */
#ifndef GPUSORT_COLLECT_SCAN_H
#define GPUSORT_COLLECT_SCAN_H

#include "nodes/execnodes.h"

#include "sort_state.h"

/* Read the child, which is initialised for forward scans, to its end. */
extern void gpusort_drain(GpuSort *sort, PlanState *child);

#endif							/* GPUSORT_COLLECT_SCAN_H */
