/*
 * dead_rows.c
 *		The mark of dead rows in index tuples; see dead_rows.h.
 */
#include "postgres.h"

#include "sort/dead_rows.h"
#include "sort/sort_internal.h"

void
gpusort_unmark_dead(GpuSort *sort)
{
	for (uint64 id = 0; sort->index.any_dead && id < sort->rows.count; id++)
		((IndexTuple) gpusort_row_at(&sort->rows.places, (uint32) id))->t_info &= ~INDEX_AM_RESERVED_BIT;
	sort->index.any_dead = false;
}
