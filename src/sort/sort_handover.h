/*
 * sort_handover.h
 *		Going on in PostgreSQL's tuplesort.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_HANDOVER_H
#define GPUSORT_SORT_HANDOVER_H

#include "sort/key_columns.h"

/* Returns why taking a row in, or sorting, has failed. */
static inline GpuSortHandover
gpusort_handover_cause(const GpuSortKeys *keys)
{
	return keys->value_refused && !keys->memory.exceeded ? GPUSORT_HANDOVER_VALUE
		: GPUSORT_HANDOVER_MEMORY;
}

/*
 * Hand the sort over to a tuplesort, which gets all rows that there are; callers put rows that
 * follow there.
 */
extern void gpusort_hand_over(GpuSort *sort, GpuSortHandover why);

/* Move all rows into the tuplesort that the sort was handed over to. */
extern void gpusort_move_to_tuplesort(GpuSort *sort);

#endif							/* GPUSORT_SORT_HANDOVER_H */
