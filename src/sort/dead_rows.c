/*
 * dead_rows.c
 *		The mark of dead rows in index tuples; see dead_rows.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "interrupts.h"
#include "sort/dead_rows.h"
#include "sort/sort_state.h"

void
gpusort_unmark_dead(GpuSort *sort)
{
	bool	   *any = sort->window.mapped ? &sort->window.any_dead : &sort->index.any_dead;
	GpuSortView view;

	if (!*any)
		return;
	gpusort_view(sort, &view);
	for (uint64 id = 0; id < view.nrows; id++)
	{
		IndexTuple	tuple = gpusort_row_at(&view.places, (uint32) id);

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		tuple->t_info &= ~INDEX_AM_RESERVED_BIT;
	}
	*any = false;
}
