/*
 * heap_space.h
 *		Estimates whether rows have room in the free space of a table.
 */
#ifndef GPUSORT_HEAP_SPACE_H
#define GPUSORT_HEAP_SPACE_H

#include "utils/rel.h"

/*
 * Returns whether a good part of `bytes` bytes of rows would fit into free space of the table's
 * pages.  If so, the table should not grow: appended rows would leave that space unused.
 */
extern bool gpusort_heap_has_space(Relation heap, double bytes);

#endif							/* GPUSORT_HEAP_SPACE_H */
