/*
 * sort_move_out.c
 *		Moving a result that nobody reads now to temporary files; see sort.h.
 *
 * All rows are written as one run, in order.  From then on the sort is one that has spilled:
 * whoever asks for a row has the portion loaded that the row is in (sort_portions.c).
 */
#include "postgres.h"

#include "utils/guc.h"

#include "protocol/gsd_holders.h"
#include "settings.h"
#include "sort/memory_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/* A sort with fewer extents is too small for that to gain anything. */
#define MIN_EXTENTS		(2 * GSD_LEAST_EXTENTS)

bool
gpusort_should_move_out(const GpuSort *sort)
{
	const GpuSortPoolAccount *account = &sort->memory.pool_account;

	/* temp_file_limit: a query that has its rows already must not fail because of files */
	return sort->order.performed && sort->tuplesort == NULL && !sort->index_rows &&
		sort->keys.ncolumns > 0 && sort->rows.count > 0 && !gpusort_has_runs(sort) &&
		gpusort_enable_spill && temp_file_limit < 0 &&
		pg_atomic_read_u32(account->extents) >= MIN_EXTENTS && gpusort_pool_is_wanted(account);
}

void
gpusort_move_out(GpuSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	GpuSortSpill *spill = sort->spill != NULL ? sort->spill : gpusort_make_spill(sort);

	spill->file = gpusort_begin_run_file(sort);
	gpusort_run_begin(spill->file);
	gpusort_write_rows(sort, spill->file);
	gpusort_run_end(spill->file);
	spill->rows = sort->rows.count;
	sort->stats.runs++;
	gpusort_forget_rows(sort);
	gpusort_rewind_ranges(sort);
	/* this can't fail, since no rows are left in memory */
	(void) gpusort_finish_spill(sort);
	sort->order.performed = true;
	MemoryContextSwitchTo(old);
}
