/*
 * btree_target.h
 *		The index that is being built, as this process has it open.
 */
#ifndef GPUSORT_BTREE_TARGET_H
#define GPUSORT_BTREE_TARGET_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

typedef struct GpuSortIndexTarget
{
	Relation	heap;
	Relation	index;

	/*
	 * ii_Unique tells whether this build enforces uniqueness.  REINDEX may have cleared it
	 * although the index is unique.
	 */
	IndexInfo  *info;
} GpuSortIndexTarget;

#endif							/* GPUSORT_BTREE_TARGET_H */
