/*
 * index_key.h
 *		Derives the sort key of an index.
 */
#ifndef GPUSORT_INDEX_KEY_H
#define GPUSORT_INDEX_KEY_H

#include "utils/rel.h"

#include "sort/sort.h"

/*
 * Fill *spec with the index's key columns.  Returns false, with *reason set to a constant string,
 * if gpusort can't sort by one of its operator classes.  A caller that begins a sort of its own,
 * rather than a part of a shared one, sets spec->expected_rows itself.
 */
extern bool gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

#endif							/* GPUSORT_INDEX_KEY_H */
