/*
 * portion_share.c
 *		Portions of a spilled sort, divided among processes; see sort_parts.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "runs/runs.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/parts_private.h"
#include "sort/sort_parts.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

void
gpusort_divide(GpuSort *sort, int group_columns, uint64 min_rows)
{
	sort->runs.group_columns = group_columns;
	sort->runs.min_portion_rows = min_rows;
}

int
gpusort_portion_workers(const GpuSort *sort)
{
	const GpuSortSpill *spill = sort->runs.spill;

	if (spill == NULL || spill->portions == NULL || sort->parts.joined == NULL ||
		!sort->order.performed)
		return 0;
	return (int) Min(spill->participants, spill->portions->count) - 1;
}

uint32
gpusort_portions_planned(const GpuSort *sort)
{
	const GpuSortSpill *spill = sort->runs.spill;

	return spill == NULL || spill->portions == NULL ? 0 : spill->portions->count;
}

/*
 * Prepares the shared sort for parts that load portions.  From now on all extents are counted
 * together, as they were while rows were collected, and evenly divided.  The parts keep and store
 * all rows of their portions, without a bound and not made of keys, since other processes look into
 * them.
 */
static void
share_extents(GpuSort *sort)
{
	GpuSortParts *parts = sort->parts.joined;
	GpuSortPoolAccount *account = &sort->memory.pool_account;

	parts->asked = (GpuSortRequest) {.equal_rows = false};
	pg_atomic_write_u32(&parts->shares, sort->runs.spill->participants);
	pg_atomic_write_u32(&parts->kept_extents, sort->memory.kept_extents);
	pg_atomic_write_u32(&parts->shares_enforced, 1);
	if (account->extents == &parts->extents)
		return;
	pg_atomic_write_u32(&parts->extents, pg_atomic_read_u32(account->extents));
	pg_atomic_write_u64(&parts->rows, 0);
	account->extents = &parts->extents;
}

bool
gpusort_share_portions(GpuSort *sort, GpuSortSharedPortions *shared)
{
	GpuSortSpill *spill = sort->runs.spill;
	const GpuSortPortions *portions;
	int			workers = gpusort_portion_workers(sort);
	Size		first_bytes;

	if (workers == 0)
		return false;
	/* the other processes get the memory that this one does not need now */
	gpusort_unmap_window(sort);
	sort->runs.window.nrows = 0;
	spill->loaded = false;
	gpusort_forget_rows(sort);
	gpusort_rewind_ranges(sort);
	/* forgetting rows keeps the parts, so this is only a safeguard */
	if (sort->parts.joined == NULL)
		return false;
	portions = spill->portions;
	first_bytes = ((Size) portions->count + 1) * sizeof(uint64);
	if (spill->shared_first != NULL)
		pfree(spill->shared_first);
	spill->shared_first = memcpy(MemoryContextAllocHuge(spill->context, first_bytes),
								 portions->first, first_bytes);
	spill->shared_count = portions->count;
	shared->parts = gpusort_parts_number(sort->parts.joined);
	shared->count = portions->count;
	shared->workers = workers;
	shared->file = gpusort_next_file(spill);
	gpusort_portion_file_write(portions, spill->files, shared->file);
	share_extents(sort);
	return true;
}

void
gpusort_open_portions(GpuSort *part, const GpuSortSharedPortions *shared)
{
	GpuSortSpill *spill = part->runs.spill;
	MemoryContext old = MemoryContextSwitchTo(spill->context);

	spill->shared = gpusort_portion_file_open(spill->files, shared->file, part->index_rows);
	MemoryContextSwitchTo(old);
	/*
	 * no other process reads these rows, so they may be in private memory if the pool has no room
	 */
	part->memory.pool_account.pool_only = false;
	part->order.performed = true;
}

/* Makes a portion all rows that a part has. */
static void
become_portion(GpuSort *part, uint32 number)
{
	GpuSortSpill *spill = part->runs.spill;
	GpuSortPortionFile *file = spill->shared;
	GpuSortRowKeys keys = gpusort_row_keys(&part->spec);
	MemoryContext old = MemoryContextSwitchTo(spill->context);

	if (spill->portions != NULL)
		gpusort_portions_free(spill->portions);
	spill->portions = NULL;
	gpusort_portion_file_read(file, number);
	spill->portions = gpusort_portions_make_one(file->runs, file->nruns, file->from, file->to,
												part->desc, &keys, part->index_rows);
	MemoryContextSwitchTo(old);
	spill->rows = spill->portions->first[1] - spill->portions->first[0];
	part->stats.rows = part->stats.dropped_rows + spill->rows;
	part->runs.window.nrows = 0;
	spill->loaded = false;
}

void
gpusort_take_portion(GpuSort *sort, uint32 number, uint64 *from, uint64 *to)
{
	const GpuSortSpill *spill = sort->runs.spill;

	if (spill->shared != NULL)
	{
		become_portion(sort, number);
		*from = spill->portions->first[0];
		*to = spill->portions->first[1];
		return;
	}
	*from = spill->shared_first[number];
	*to = spill->shared_first[number + 1];
}

void *
gpusort_tuple_behind(GpuSort *sort, uint64 to)
{
	GpuSortPortions *portions = sort->runs.spill->portions;

	return gpusort_portions_tuple_behind(portions, gpusort_portions_find(portions, to - 1));
}
