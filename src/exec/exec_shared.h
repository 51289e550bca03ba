/*
 * exec_shared.h
 *		Executing a GpuSort Shared node.
 */
#ifndef GPUSORT_EXEC_SHARED_H
#define GPUSORT_EXEC_SHARED_H

#include "nodes/plannodes.h"

extern Node *gpusort_create_shared_state(CustomScan *scan);

#endif							/* GPUSORT_EXEC_SHARED_H */
