/*
 * sort_rows.c
 *		Sorting the rows that are in memory; see sort_rows.h.
 */
#include "postgres.h"

#include "sort/sort_handover.h"
#include "sort/sort_memory.h"
#include "sort/sort_order.h"
#include "sort/sort_rows.h"
#include "sort/sort_state.h"
#include "sort/sort_verify.h"
#include "sort/sort_workers.h"

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
