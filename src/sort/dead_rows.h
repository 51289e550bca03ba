/*
 * dead_rows.h
 *		The mark of dead rows in index tuples.
 *
 * Rows of an index build that are dead, but not to all transactions, go into the index and don't
 * count for uniqueness.  So their tuples carry a mark in the row store.  It is the bit that is
 * reserved for the index access method, and the tuples in the index must not have it.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_DEAD_ROWS_H
#define GPUSORT_DEAD_ROWS_H

#include "sort/sort.h"

static inline void
gpusort_mark_dead(IndexTuple tuple)
{
	tuple->t_info |= INDEX_AM_RESERVED_BIT;
}

static inline bool
gpusort_tuple_is_dead(IndexTuple tuple)
{
	return (tuple->t_info & INDEX_AM_RESERVED_BIT) != 0;
}

static inline void
gpusort_unmark_tuple(IndexTuple tuple)
{
	tuple->t_info &= ~INDEX_AM_RESERVED_BIT;
}

/* Removes all marks from the tuples of a sort, once uniqueness has been checked. */
extern void gpusort_unmark_dead(GpuSort *sort);

#endif							/* GPUSORT_DEAD_ROWS_H */
