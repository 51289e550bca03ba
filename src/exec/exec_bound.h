/*
 * exec_bound.h
 *		Telling GpuSort nodes which Limit takes their rows.
 */
#ifndef GPUSORT_EXEC_BOUND_H
#define GPUSORT_EXEC_BOUND_H

#include "nodes/execnodes.h"

/*
 * Tells each GpuSort node in the tree of a query about the Limit above it.  The nodes have just
 * been initialized.
 */
extern void gpusort_tell_bounds(PlanState *query);

#endif							/* GPUSORT_EXEC_BOUND_H */
