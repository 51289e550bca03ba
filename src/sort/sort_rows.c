/*
 * sort_rows.c
 *		Sorting the rows that are in memory; see order_private.h.
 */
#include "postgres.h"

#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

GpuSortHandover
gpusort_sort_rows(GpuSort *sort)
{
	uint64		refined_before = sort->stats.refined_rows;
	GpuSortHandover why = GPUSORT_HANDOVER_NONE;
	bool		sorted;

	/* participants that spill their parts sort at the same time, which one device could not do */
	sorted = gpusort_order_rows(sort, !sort->is_part);
	sort->stats.refined_rows += refined_before;
	gpusort_note_memory(sort);
	gpusort_forget_encoders(sort);
	if (!sorted)
		why = gpusort_handover_cause(&sort->keys);
	else if (!gpusort_order_is_right(sort))
		why = GPUSORT_HANDOVER_ORDER;
	gpusort_end_sort_workers(sort);
	return why;
}
