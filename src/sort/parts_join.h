/*
 * parts_join.h
 *		Making the parts of a shared sort the rows of one sort.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_PARTS_JOIN_H
#define GPUSORT_PARTS_JOIN_H

#include "sort/sort_parts.h"

/* Adds the rows of all finished parts to the sort, which is an ordinary sort again afterwards. */
extern void gpusort_parts_join(GpuSortParts *parts, GpuSort *sort);

#endif							/* GPUSORT_PARTS_JOIN_H */
