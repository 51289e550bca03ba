/*
 * load_routing.h
 *		Finding the partition of a row: by the server's own routing.
 */
#ifndef GPUSORT_LOAD_ROUTING_H
#define GPUSORT_LOAD_ROUTING_H

#include "access/attmap.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "load/load_value.h"

typedef struct GpuSortLoadRouting GpuSortLoadRouting;

/* Begins to route rows to the partitions of a table; allocates in the current context. */
extern GpuSortLoadRouting *gpusort_routing_begin(Relation root);

/*
 * Returns the partition of a row, open and locked.  Raises an error if there is none, or if it does
 * not take the row.
 */
extern ResultRelInfo *gpusort_routing_find(GpuSortLoadRouting *routing,
										   const GpuSortLoadValue *values);

/*
 * Returns where the columns of a partition are found in the root, or NULL if both have the same
 * columns.
 */
extern const AttrMap *gpusort_routing_map(GpuSortLoadRouting *routing, ResultRelInfo *partition);

extern void gpusort_routing_end(GpuSortLoadRouting *routing);

#endif							/* GPUSORT_LOAD_ROUTING_H */
