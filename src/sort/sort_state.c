/*
 * sort_state.c
 *		Making, emptying and releasing what a sort consists of; see state_private.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg_compat/executor.h"
#include "sort/memory_private.h"
#include "sort/parts_private.h"
#include "sort/service_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/*
 * Releases the memory of the rows.  What else a shared sort has, which is parts and runs that are
 * still to be read, stays.
 */
static void
release_memory(GpuSort *sort)
{
	gpusort_unmap_window(sort);
	gpusort_sort_service_end(sort);
	/* a worker has failed while others were sorting its rows; the leader gives its extents back */
	if (sort->team.running && sort->parts.is_joined)
		gpusort_leave_ranges(sort);
	gpusort_release_ranges(sort);
	gpusort_sort_service_abandon(sort);
}

void
gpusort_release_state(GpuSort *sort)
{
	release_memory(sort);
	gpusort_release_aside(sort);
	if (!sort->parts.is_part && !sort->parts.is_joined)
	{
		gpusort_give_owner(&sort->memory.pool_account);
		sort->parts.joined = NULL;
	}
	gpusort_pool_close(&sort->memory.pool_account);
	gpusort_show_end(sort);
}

static void
context_callback(void *arg)
{
	GpuSort    *sort = arg;

	/* on error, the resource owner has closed the files already */
	if (sort->runs.spill != NULL)
		gpusort_delete_spill(sort->runs.spill);
	sort->runs.spill = NULL;
	gpusort_release_state(sort);
}

void
gpusort_forget_rows(GpuSort *sort)
{
	gpusort_sort_service_end(sort);
	if (gpusort_sort_service_holds_memory(sort))
	{
		release_memory(sort);
		gpusort_need_ranges(sort);
	}
	else if (gpusort_pool_is_uneven(&sort->memory.pool_account))
		gpusort_rewind_ranges(sort);
	gpusort_release_reordered(sort);
	gpusort_release_merge(sort);
	sort->device.merge.merged = sort->device.merge.failed = false;
	gpusort_release_unneeded(sort);
	gpusort_empty_rows(&sort->rows);
	sort->memory.refusals = 0;
	gpusort_forget_values(&sort->keys);
	sort->index = (GpuSortIndexFacts) {.tids_ordered = true};
	gpusort_forget_trim(sort);
	sort->order.keys = NULL;
	sort->order.ready = 0;
	sort->order.performed = false;
}

GpuSort *
gpusort_make_state(TupleDesc desc, const GpuSortSpec *spec, size_t limit_bytes)
{
	GpuSort    *sort = palloc0(sizeof(GpuSort));

	sort->context = CurrentMemoryContext;
	sort->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpusort keys",
										  ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	Assert(spec->expected_rows >= 0);
	sort->spec = *spec;
	gpusort_begin_columns(&sort->keys, desc, spec, gpusort_encoders_limit(limit_bytes));

	gpusort_begin_memory(sort, limit_bytes);
	sort->on_reset.func = context_callback;
	sort->on_reset.arg = sort;
	MemoryContextRegisterResetCallback(sort->context, &sort->on_reset);

	gpusort_forget_rows(sort);
	return sort;
}

TupleTableSlot *
gpusort_row_slot(GpuSort *sort)
{
	if (sort->row_slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(sort->context);

		/* the slot must hold no reference that only ExecDropSingleTupleTableSlot() drops */
		sort->row_slot = gpusort_make_slot(sort->desc, &TTSOpsMinimalTuple);
		MemoryContextSwitchTo(old);
	}
	return sort->row_slot;
}
