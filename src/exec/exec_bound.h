/*
 * exec_bound.h
 *		Telling GpuSorts which Limit takes their rows.
 */
#ifndef GPUSORT_EXEC_BOUND_H
#define GPUSORT_EXEC_BOUND_H

#include "nodes/execnodes.h"

/* For the nodes of a query, which have just been made. */
extern void gpusort_tell_bounds(PlanState *query);

#endif							/* GPUSORT_EXEC_BOUND_H */
