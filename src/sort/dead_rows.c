/*
 * dead_rows.c
 *		The mark of dead rows in index tuples; see sort.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "interrupts.h"
#include "sort/sort.h"
#include "sort/state_private.h"

void
gpusort_unmark_dead(GpuSort *sort)
{
	if (!sort->index.any_dead)
		return;
	for (uint64 id = 0; id < sort->rows.count; id++)
	{
		IndexTuple	tuple = gpusort_row_at(&sort->rows.places, (uint32) id);

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_unmark_tuple(tuple);
	}
	sort->index.any_dead = false;
}
