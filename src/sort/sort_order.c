/*
 * sort_order.c
 *		Putting the rows in memory in order; see order_private.h.
 *
 * An engine sorts the rows by their words: gpusortd's (sort_service.c), or else the one on the host
 * (host_engine.c).  Rows of strings that tie on their first words are then ordered by what follows
 * (sort_refine.c).  If the order may be wrong, it is verified (sort_verify.c).
 */
#include "postgres.h"

#include "elapsed.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/refine_private.h"
#include "sort/service_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/* Sorts the rows by the planes that the engine sees, in gpusortd or in the host engine. */
static bool
sort_by_engine(GpuSort *sort, bool with_service)
{
	gs_progress outer;
	bool		sorted;

	gpusort_choose_planes(&sort->keys, &sort->rows);
	outer = gpusort_enter_engine(sort);
	sorted = (with_service &&
			  gpusort_sort_service_sort(sort,
										needs_equal_rows(sort) || needs_verification(sort))) ||
		gpusort_sort_on_host(sort);
	gs_progress_leave(sort->progress, &outer);
	/* a part's rows may be joined with others whose strings begin less alike */
	if (!sorted)
		gpusort_restore_planes(&sort->keys, &sort->rows);
	return sorted;
}

/*
 * How many rows the engine has found equal to the row before, so that their order is not known yet.
 */
typedef enum Ties
{
	NO_TIES,
	FEW_TIES,					/* no long run of them */
	MANY_TIES
} Ties;

static Ties
look_for_ties(const GpuSort *sort)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);
	bool		any = false;
	int			all = 0;		/* consecutive words that have all bits set */

	for (uint64 w = 0; w < (sort->rows.count + 63) / 64; w++)
	{
		any |= equal[w] != 0;
		all = equal[w] == PG_UINT64_MAX ? all + 1 : 0;
		/* a run of more than SMALL_RUN rows has at least so many such words */
		if (all >= SMALL_RUN / 64 - 1)
			return MANY_TIES;
	}
	return any ? FEW_TIES : NO_TIES;
}

/*
 * Decides whether gpusortd goes on bringing rows into order while ties are refined.  It reads row
 * ids from the workspace, which the refinement uses as scratch memory where runs are long.
 */
static void
keep_or_end_reordering(GpuSort *sort, Ties ties)
{
	if (ties == FEW_TIES && sort->device.reorder.running &&
		gpusort_reorder_outlasts_refinement(sort) && !needs_verification(sort))
	{
		sort->device.reorder.but_ties = true;
		return;
	}
	gpusort_sort_service_end(sort);
	gpusort_release_reordered(sort);
}

/*
 * Puts the ties in order.  The workspace becomes scratch memory for that, if gpusortd does not read
 * it any more.
 */
static bool
refine_ties(GpuSort *sort)
{
	gs_progress outer;

	if (!(sort->device.reorder.but_ties ? gpusort_grow_refined(sort)
		  : gpusort_grow_workspace(sort)))
		return false;
	memcpy(sort->order.refined->base, sort->order.ids, sort->rows.count * sizeof(uint32));
	sort->order.ids = RANGE_U32(sort->order.refined);
	sort->stats.presorted = false;
	sort->stats.refined_rows = 0;
	outer = gpusort_enter_refinement(sort);
	gpusort_refine(sort);
	gs_progress_leave(sort->progress, &outer);
	return true;
}

bool
gpusort_order_rows(GpuSort *sort, bool with_service)
{
	GpuSortPhase outer = gpusort_show_enter(sort, GPUSORT_PHASE_SORT);
	Ties		ties;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	if (!sort_by_engine(sort, with_service))
		return false;
	gpusort_add_elapsed(&sort->stats.sort_time, start);
	ties = needs_refinement(sort) ? look_for_ties(sort) : NO_TIES;
	if (ties != NO_TIES)
	{
		(void) gpusort_show_enter(sort, GPUSORT_PHASE_REFINE);
		INSTR_TIME_SET_CURRENT(start);
		keep_or_end_reordering(sort, ties);
		if (!refine_ties(sort))
			return false;
		gpusort_add_elapsed(&sort->stats.refine_time, start);
	}
	sort->order.knows_equal = sort->tells_equal;
	(void) gpusort_show_enter(sort, outer);
	return true;
}

/* ---------- sorting the rows that are in memory ---------- */

GpuSortHandover
gpusort_sort_rows(GpuSort *sort)
{
	uint64		refined_before = sort->stats.refined_rows;
	GpuSortHandover why = GPUSORT_HANDOVER_NONE;
	bool		sorted;

	/* participants that spill their parts sort at the same time, which one device could not do */
	sorted = gpusort_order_rows(sort, !sort->parts.is_part);
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
