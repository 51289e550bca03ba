/*
 * sort_watch.c
 *		What others see of a sort while it runs, and its trace; see state_private.h.
 */
#include "postgres.h"

#include "sort/state_private.h"
#include "stats/stats.h"

/* Traces the phase that ends now. */
static void
trace_phase(GpuSort *sort)
{
	instr_time	now;

	if (!sort->is_traced)
		return;
	INSTR_TIME_SET_CURRENT(now);
	gpusort_trace_event(gpusort_phase_name(sort->phase), gpusort_kind_name(sort->spec.kind),
						sort->phase_start, now, sort->stats.rows);
	sort->phase_start = now;
}

void
gpusort_watch_begin(GpuSort *sort)
{
	gpusort_watch_end(sort);
	sort->phase = sort->tuplesort != NULL ? GPUSORT_PHASE_CORE : GPUSORT_PHASE_COLLECT;
	sort->is_traced = gpusort_trace_begin();
	if (sort->is_traced)
		INSTR_TIME_SET_CURRENT(sort->phase_start);
	sort->activity = gpusort_begin_activity(sort->spec.kind, sort->spec.expected_rows);
	gpusort_enter_phase(sort->activity, sort->phase);
}

void
gpusort_watch_end(GpuSort *sort)
{
	trace_phase(sort);
	sort->is_traced = false;
	gpusort_end_activity(sort->activity);
	sort->activity = NULL;
}

GpuSortPhase
gpusort_watch_enter(GpuSort *sort, GpuSortPhase phase)
{
	GpuSortPhase before = sort->phase;

	if (phase != before)
		trace_phase(sort);
	sort->phase = phase;
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
