/*
 * heap_eligible.h
 *		Decides whether the copy of a table in the order of an index is made here.
 */
#ifndef GPUSORT_HEAP_ELIGIBLE_H
#define GPUSORT_HEAP_ELIGIBLE_H

#include "sort/sort.h"
#include "utils/rel.h"

/*
 * Returns whether gpusort sorts the table's versions in the order of the index.  If so, fills
 * *spec, whose columns are those of the table, or of rows with keys (heap_keys.h); if not, sets
 * *reason to a constant string.
 */
extern bool gpusort_heap_is_eligible(Relation heap, Relation index, size_t limit_bytes,
									 GpuSortSpec *spec, const char **reason);

/*
 * Returns whether gpusort sorts the table's versions, and estimates say that they fit into memory,
 * so that sorting pays however the rows lie now.
 */
extern bool gpusort_heap_fits_memory(Relation heap, Relation index, size_t limit_bytes);

/*
 * Fill *spec with the sort key alone.  Returns false, and sets *reason, if gpusort does not know
 * the index's order.
 */
extern bool gpusort_heap_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

/* Returns the descriptor of the sort's rows, allocated in the current memory context. */
extern TupleDesc gpusort_heap_sort_desc(Relation heap, Relation index);

#endif							/* GPUSORT_HEAP_ELIGIBLE_H */
