/*
 * heap_space.h
 *		Whether rows have room in what a table has.
 */
#ifndef GPUSORT_HEAP_SPACE_H
#define GPUSORT_HEAP_SPACE_H

#include "utils/rel.h"

/*
 * Would a good part of so many bytes fit into free space of the table's pages?  Then it should not grow: rows
 * that go to its end leave that space unused.
 */
extern bool gpusort_heap_has_space(Relation heap, double bytes);

#endif							/* GPUSORT_HEAP_SPACE_H */
