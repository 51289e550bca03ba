/*
 * index_unique.h
 *		Are the keys of a unique index unique?
 */
#ifndef GPUSORT_INDEX_UNIQUE_H
#define GPUSORT_INDEX_UNIQUE_H

#include "btree/btree_target.h"
#include "engine/gs_progress.h"
#include "sort/sort.h"

/*
 * ERROR if two live rows of the performed sort violate the index's uniqueness.  The
 * progress is planned as rows.
 */
extern void gpusort_index_check_unique(const GpuSortIndexTarget *target, GpuSort *sort,
									   gs_progress *progress);

#endif							/* GPUSORT_INDEX_UNIQUE_H */
