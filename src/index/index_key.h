/*
 * index_key.h
 *		The sort key of an index.
 */
#ifndef GPUSORT_INDEX_KEY_H
#define GPUSORT_INDEX_KEY_H

#include "utils/rel.h"

#include "sort/sort.h"

/*
 * False with *reason (constant string) if an operator class has no ordering for us.  How many rows are expected is for
 * the caller to say, if it begins a sort that is no part of another one.
 */
extern bool gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

#endif							/* GPUSORT_INDEX_KEY_H */
