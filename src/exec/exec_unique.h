/*
 * exec_unique.h
 *		Executing a GpuSort Unique node.
 */
#ifndef GPUSORT_EXEC_UNIQUE_H
#define GPUSORT_EXEC_UNIQUE_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

extern Node *gpusort_create_unique_state(CustomScan *scan);

#endif							/* GPUSORT_EXEC_UNIQUE_H */
