/*
 * heap_eligible.h
 *		Whether the copy of a table in the order of an index is made here.
 */
#ifndef GPUSORT_HEAP_ELIGIBLE_H
#define GPUSORT_HEAP_ELIGIBLE_H

#include "sort/sort.h"
#include "utils/rel.h"

/*
 * Whether gpusort sorts the table's versions by the index, and by what, as columns of the
 * table, or of rows with keys (heap_keys.h); if not, *reason (constant string).
 */
extern bool gpusort_heap_is_eligible(Relation heap, Relation index, size_t limit_bytes,
									 GpuSortSpec *spec, const char **reason);

/* ... and in memory, as far as estimates tell, so that it pays however the rows lie now. */
extern bool gpusort_heap_fits_memory(Relation heap, Relation index, size_t limit_bytes);

/* Only by what: false if the index has an order that gpusort does not know. */
extern bool gpusort_heap_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

/* The descriptor of what is sorted, in the current context. */
extern TupleDesc gpusort_heap_sort_desc(Relation heap, Relation index);

#endif							/* GPUSORT_HEAP_ELIGIBLE_H */
