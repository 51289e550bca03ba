/*
 * sort_watch.c
 *		What others see of a sort while it runs; see sort_watch.h.
 */
#include "postgres.h"

#include "sort/sort_watch.h"

void
gpusort_watch_begin(GpuSort *sort)
{
	gpusort_watch_end(sort);
	sort->activity = gpusort_begin_activity(sort->spec.kind, sort->spec.expected_rows);
	if (sort->tuplesort != NULL)
		gpusort_enter_phase(sort->activity, GPUSORT_PHASE_CORE);
}

void
gpusort_watch_end(GpuSort *sort)
{
	gpusort_end_activity(sort->activity);
	sort->activity = NULL;
}

GpuSortPhase
gpusort_watch_enter(GpuSort *sort, GpuSortPhase phase)
{
	GpuSortPhase before = GPUSORT_PHASE_COLLECT;

	if (sort->activity == NULL)
		return before;
	before = sort->activity->phase;
	gpusort_watch_memory(sort);
	gpusort_enter_phase(sort->activity, phase);
	return before;
}

void
gpusort_watch_memory(GpuSort *sort)
{
	GpuSortActivity *activity = sort->activity;

	if (activity == NULL)
		return;
	gpusort_watch_rows(sort);
	activity->pool_bytes = (int64) pg_atomic_read_u32(sort->memory.pool_account.extents) *
		GSD_EXTENT_BYTES;
	activity->spilled_bytes = (int64) sort->stats.spilled_bytes;
}
