/*
 * sort_ranges.c
 *		The ranges of memory that a sort lives in; see memory_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "engine/host/gs_sort.h"
#include "memory/pool.h"
#include "sort/memory_private.h"
#include "sort/parts_private.h"
#include "sort/state_private.h"

GpuSortRange *
gpusort_acquire_range(GpuSort *sort, int role)
{
	return gpusort_range_acquire(role, sort->memory.reserve_bytes, &sort->memory.pool_account);
}

size_t
gpusort_bitmap_bytes(uint64 rows)
{
	return (rows + 63) / 64 * sizeof(uint64);
}

/*
 * A range that a sort may have.  This file is the one place that says which ranges there are, how
 * much of each so many rows take, and which are needed, as follows from the sort's spec and from
 * what was asked of it.  A range that is needed exists from when the sort begins to its end,
 * whatever happens to the sort in between.  Others are acquired when they are first used (a bitmap
 * of nulls, with the first null), and go with the rows.
 */
typedef struct RangeSlot
{
	GpuSortRange **range;
	int			role;
	size_t		bytes;
	bool		needed;
} RangeSlot;

/* Called with each range slot; returns false to stop. */
typedef bool (*SlotVisitor) (GpuSort *sort, const RangeSlot *slot, void *arg);

static bool
visit_slots(GpuSort *sort, const RangeSlot *slots, int count, SlotVisitor visit, void *arg)
{
	for (int i = 0; i < count; i++)
		if (!visit(sort, &slots[i], arg))
			return false;
	return true;
}

static bool
visit_store(GpuSort *sort, SlotVisitor visit, void *arg)
{
	RangeSlot	store = {&sort->rows.store, GPUSORT_RANGE_ROWS, sort->rows.used, true};

	return visit(sort, &store, arg);
}

static bool
visit_column(GpuSort *sort, int i, uint64 rows, SlotVisitor visit, void *arg)
{
	GpuSortColumn *column = &sort->keys.columns[i];
	int			role = GPUSORT_PLANE_ROLE(i, 0);
	size_t		bytes = rows * sizeof(uint64);
	bool		is_bytes = column->bytes != GPUSORT_BYTES_NONE;
	const RangeSlot slots[] = {
		{&column->prefix, role + GPUSORT_PREFIX_ROLE, bytes, is_bytes},
		{&column->refs, role + GPUSORT_REFS_ROLE, bytes, is_bytes},
		{&column->nulls, role + GPUSORT_NULLS_ROLE, gpusort_bitmap_bytes(rows), false}
	};

	if (!visit_slots(sort, slots, lengthof(slots), visit, arg))
		return false;
	for (int w = 0; w < column->nwords; w++)
	{
		RangeSlot	slot = {&column->words[w], role + GPUSORT_WORDS_ROLE + w, bytes, true};

		if (!visit(sort, &slot, arg))
			return false;
	}
	return true;
}

static bool
visit_columns(GpuSort *sort, uint64 rows, SlotVisitor visit, void *arg)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (!visit_column(sort, i, rows, visit, arg))
			return false;
	return true;
}

static bool
visit_planes(GpuSort *sort, uint64 rows, SlotVisitor visit, void *arg)
{
	size_t		refs_bytes = sort->key_rows.used ? 0 : rows * sizeof(uint32);
	RangeSlot	refs = {&sort->rows.refs, GPUSORT_RANGE_ROW_REFS, refs_bytes, true};

	return visit(sort, &refs, arg) && visit_columns(sort, rows, visit, arg);
}

static bool
visit_workspace(GpuSort *sort, uint64 rows, SlotVisitor visit, void *arg)
{
	GpuSortOrder *order = &sort->order;
	bool		refines = sort->keys.any_bytes || sort->index_rows;
	bool		looks_for_equal = sort->keys.any_bytes || sort->tells_equal;
	const RangeSlot slots[] = {
		{&order->workspace, GPUSORT_RANGE_WORKSPACE, gs_sort_workspace_bytes(rows), true},
		{&order->refined, GPUSORT_RANGE_REFINED, rows * sizeof(uint32), refines},
		{&order->equal, GPUSORT_RANGE_EQUAL, gpusort_bitmap_bytes(rows), looks_for_equal}
	};

	return visit_slots(sort, slots, lengthof(slots), visit, arg);
}

static bool
visit_all(GpuSort *sort, SlotVisitor visit, void *arg)
{
	return visit_store(sort, visit, arg) && visit_planes(sort, 0, visit, arg) &&
		visit_workspace(sort, 0, visit, arg);
}

/* ---------- visiting those that are there ---------- */

typedef struct Visit
{
	GpuSortRangeVisitor visit;
	void	   *arg;
} Visit;

static bool
visit_if_there(GpuSort *sort, const RangeSlot *slot, void *arg)
{
	const Visit *to = arg;

	return *slot->range == NULL || to->visit(slot->range, slot->bytes, to->arg);
}

bool
gpusort_visit_planes(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	return visit_planes(sort, rows, visit_if_there, &(Visit) {visit, arg});
}

bool
gpusort_visit_workspace(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	return visit_workspace(sort, rows, visit_if_there, &(Visit) {visit, arg});
}

bool
gpusort_visit_ranges(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit, void *arg)
{
	return visit_store(sort, visit_if_there, &(Visit) {visit, arg}) &&
		gpusort_visit_planes(sort, rows, visit, arg) &&
		gpusort_visit_workspace(sort, rows, visit, arg);
}

static bool
count_range(GpuSortRange **range, size_t bytes, void *arg)
{
	(*(size_t *) arg)++;
	return true;
}

size_t
gpusort_count_ranges(GpuSort *sort)
{
	size_t		count = 0;

	gpusort_visit_ranges(sort, 0, count_range, &count);
	return count;
}

typedef struct RoleSearch
{
	int			role;
	GpuSortRange **found;
} RoleSearch;

static bool
differs_from_role(GpuSort *sort, const RangeSlot *slot, void *arg)
{
	RoleSearch *search = arg;

	if (slot->role == search->role)
		search->found = slot->range;
	return search->found == NULL;
}

GpuSortRange **
gpusort_sort_range_of_role(GpuSort *sort, int role)
{
	RoleSearch	search = {.role = role};

	visit_all(sort, differs_from_role, &search);
	Assert(search.found != NULL);
	return search.found;
}

/* ---------- having those that are needed ---------- */

static bool
acquire_if_needed(GpuSort *sort, const RangeSlot *slot, void *arg)
{
	if (slot->needed && *slot->range == NULL)
		*slot->range = gpusort_acquire_range(sort, slot->role);
	return !slot->needed || *slot->range != NULL;
}

bool
gpusort_acquire_ranges(GpuSort *sort)
{
	if (!visit_all(sort, acquire_if_needed, NULL))
		return false;
	sort->rows.places.base = sort->rows.store->base;
	sort->rows.places.refs = RANGE_U32(sort->rows.refs);
	return true;
}

void
gpusort_need_ranges(GpuSort *sort)
{
	if (!gpusort_acquire_ranges(sort))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to reserve address space for a sort.")));
}

static bool
release_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_release(*range);
	*range = NULL;
	return true;
}

static bool
release_if_not_needed(GpuSort *sort, const RangeSlot *slot, void *arg)
{
	return slot->needed || *slot->range == NULL || release_range(slot->range, 0, NULL);
}

void
gpusort_release_unneeded(GpuSort *sort)
{
	visit_all(sort, release_if_not_needed, NULL);
}

static bool
leave_range(GpuSortRange **range, size_t bytes, void *arg)
{
	const uint32 *extents;
	uint32		count;

	if (gpusort_range_extents(*range, &extents, &count))
		gpusort_range_yield(*range, count, NULL);
	return true;
}

void
gpusort_leave_ranges(GpuSort *sort)
{
	gpusort_visit_ranges(sort, 0, leave_range, NULL);
	if (sort->team.job != NULL)
		leave_range(&sort->team.job, 0, NULL);
}

static void
release_if_there(GpuSortRange **range)
{
	if (*range != NULL)
		release_range(range, 0, NULL);
}

void
gpusort_release_aside(GpuSort *sort)
{
	release_if_there(&sort->parts.aside.store);
	release_if_there(&sort->parts.aside.refs);
}

void
gpusort_release_reordered(GpuSort *sort)
{
	release_if_there(&sort->device.reorder.rows);
	release_if_there(&sort->device.reorder.refs);
	sort->device.reorder.count = 0;
	sort->device.reorder.but_ties = false;
}

void
gpusort_release_merge(GpuSort *sort)
{
	release_if_there(&sort->device.merge.rest);
	release_if_there(&sort->device.merge.nulls);
}

void
gpusort_release_ranges(GpuSort *sort)
{
	/* the most valuable ones first, while there is room in gpusort.keep_memory */
	gpusort_visit_ranges(sort, 0, release_range, NULL);
	gpusort_release_reordered(sort);
	gpusort_release_merge(sort);
	release_if_there(&sort->team.job);
	sort->memory.capacity = 0;
	sort->rows.end = 0;
}

static bool
rewind_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_rewind(*range);
	return true;
}

void
gpusort_rewind_ranges(GpuSort *sort)
{
	gpusort_visit_ranges(sort, 0, rewind_range, NULL);
	sort->memory.capacity = 0;
	sort->rows.end = 0;
}

static bool
discard_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_discard(*range, 0, (*range)->usable);
	return true;
}

void
gpusort_discard_planes(GpuSort *sort)
{
	gpusort_visit_workspace(sort, 0, discard_range, NULL);
	visit_columns(sort, 0, visit_if_there, &(Visit) {discard_range, NULL});
}

/* ---------- owner words of shared sorts ---------- */

/*
 * Which numbers of shared sorts are in use in this process.  Number 0 is that of all ordinary
 * sorts.
 */
static bool numbers_used[GSD_OWNER_SORTS];

bool
gpusort_take_owner(GpuSortPoolAccount *account)
{
	for (uint32 number = 1; number < GSD_OWNER_SORTS; number++)
		if (!numbers_used[number])
		{
			numbers_used[number] = true;
			account->owner = gsd_owner(MyProcPid, number);
			gpusort_pool_register_exit();
			return true;
		}
	return false;
}

void
gpusort_give_owner(GpuSortPoolAccount *account)
{
	uint32		number = account->owner >> GSD_OWNER_PID_BITS;

	if (number == 0)
		return;
	gsd_give_all(gpusort_pool->header, account->owner);
	numbers_used[number] = false;
	account->owner = gsd_owner(MyProcPid, 0);
	account->max_extents = gpusort_pool_quota_extents();
	pg_atomic_write_u32(&account->own_extents, 0);
	account->extents = &account->own_extents;
}
