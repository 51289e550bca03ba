/*
 * index_eligible.h
 *		Whether an index is built here.
 */
#ifndef GPUSORT_INDEX_ELIGIBLE_H
#define GPUSORT_INDEX_ELIGIBLE_H

#include "btree/btree_target.h"
#include "sort/sort.h"

/*
 * Whether the build can be ours, is large enough, and small enough for limit_bytes of
 * private memory and the pool.  Fills *spec, the number of rows expected among it.  If
 * not, *reason says why (constant string).
 */
extern bool gpusort_index_is_eligible(const GpuSortIndexTarget *target, size_t limit_bytes,
									  GpuSortSpec *spec, const char **reason);

#endif							/* GPUSORT_INDEX_ELIGIBLE_H */
