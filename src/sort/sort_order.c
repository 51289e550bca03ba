/*
 * sort_order.c
 *		Putting the rows that a sort has in order; see sort_order.h.
 */
#include "postgres.h"

#include "elapsed.h"
#include "sort/host_engine.h"
#include "sort/key_planes.h"
#include "sort/key_refine.h"
#include "sort/sort_memory.h"
#include "sort/sort_order.h"
#include "sort/sort_progress.h"
#include "sort/sort_ranges.h"
#include "sort/sort_service.h"
#include "sort/sort_state.h"
#include "sort/sort_watch.h"

/* Sort by the engine's planes, here or in gpusortd. */
static bool
sort_by_engine(GpuSort *sort, bool with_service)
{
	gs_progress outer;
	bool		sorted;

	gpusort_choose_planes(&sort->keys, &sort->rows);
	outer = gpusort_enter_engine(sort);
	sorted = (with_service &&
			  gpusort_service_sort(sort, needs_equal_rows(sort) || needs_verification(sort))) ||
		gpusort_sort_on_host(sort);
	gs_progress_leave(sort->progress, &outer);
	return sorted;
}

/* Are there rows whose order the engine could not tell? */
static bool
any_equal_rows(const GpuSort *sort)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);

	for (uint64 w = 0; w < (sort->rows.count + 63) / 64; w++)
		if (equal[w] != 0)
			return true;
	return false;
}

/* Put the ties in order; the engine's workspace becomes scratch memory. */
static bool
refine_ties(GpuSort *sort)
{
	gs_progress outer;
	bool		refined;

	if (!gpusort_grow_workspace(sort))
		return false;
	memcpy(sort->order.refined->base, sort->order.ids, sort->rows.count * sizeof(uint32));
	sort->order.ids = RANGE_U32(sort->order.refined);
	sort->stats.presorted = false;
	sort->stats.refined_rows = 0;
	outer = gpusort_enter_refinement(sort);
	refined = gpusort_refine(sort);
	gs_progress_leave(sort->progress, &outer);
	return refined;
}

bool
gpusort_order_rows(GpuSort *sort, bool with_service)
{
	GpuSortPhase outer = gpusort_watch_enter(sort, GPUSORT_PHASE_SORT);
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	if (!sort_by_engine(sort, with_service))
		return false;
	gpusort_add_elapsed(&sort->stats.sort_time, start);
	if (needs_refinement(sort) && any_equal_rows(sort))
	{
		(void) gpusort_watch_enter(sort, GPUSORT_PHASE_REFINE);
		INSTR_TIME_SET_CURRENT(start);
		gpusort_service_end(sort);
		gpusort_release_reordered(sort);
		if (!refine_ties(sort))
			return false;
		gpusort_add_elapsed(&sort->stats.refine_time, start);
	}
	(void) gpusort_watch_enter(sort, outer);
	return true;
}
