/*
 * exec_sort.h
 *		Executing a GpuSort node.
 */
#ifndef GPUSORT_EXEC_SORT_H
#define GPUSORT_EXEC_SORT_H

#include "nodes/plannodes.h"

extern Node *gpusort_create_sort_state(CustomScan *scan);

#endif							/* GPUSORT_EXEC_SORT_H */
