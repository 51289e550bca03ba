/*
 * exec_ordered_set.h
 *		Executing a GpuSort Ordered Set node.
 */
#ifndef GPUSORT_EXEC_ORDERED_SET_H
#define GPUSORT_EXEC_ORDERED_SET_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

extern Node *gpusort_create_ordered_set_state(CustomScan *scan);

#endif							/* GPUSORT_EXEC_ORDERED_SET_H */
