/*
 * exec_count.h
 *		Executing a GpuSort Count node.
 */
#ifndef GPUSORT_EXEC_COUNT_H
#define GPUSORT_EXEC_COUNT_H

#include "nodes/execnodes.h"
#include "nodes/plannodes.h"

extern Node *gpusort_create_count_state(CustomScan *scan);

#endif							/* GPUSORT_EXEC_COUNT_H */
