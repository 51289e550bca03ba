/*
 * index_eligible.h
 *		Decides whether an index is built here.
 */
#ifndef GPUSORT_INDEX_ELIGIBLE_H
#define GPUSORT_INDEX_ELIGIBLE_H

#include "btree/btree.h"
#include "sort/sort.h"

/*
 * Returns whether gpusort can build the index, the table is large enough to be worth it, and its
 * tuples are expected to fit into limit_bytes of private memory and the pool.  If so, fills *spec,
 * including the number of rows expected; if not, sets *reason to a constant string.
 */
extern bool gpusort_index_is_eligible(const GpuSortIndexTarget *target, size_t limit_bytes,
									  GpuSortSpec *spec, const char **reason);

#endif							/* GPUSORT_INDEX_ELIGIBLE_H */
