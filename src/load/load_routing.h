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

/* To partitions of this table.  In the current context. */
extern GpuSortLoadRouting *gpusort_routing_begin(Relation root);

/*
 * The partition of a row, open and locked.  That there is none, or that it does not take the row, is an error.
 */
extern ResultRelInfo *gpusort_routing_find(GpuSortLoadRouting *routing, const GpuSortLoadValue *values);

/* How a partition's columns are found in the root's, or NULL: they are the same. */
extern const AttrMap *gpusort_routing_map(GpuSortLoadRouting *routing, ResultRelInfo *partition);

extern void gpusort_routing_end(GpuSortLoadRouting *routing);

#endif							/* GPUSORT_LOAD_ROUTING_H */
