/*
 * parts_collect.c
 *		One sort whose rows are collected by several processes; see sort_parts.h.
 *
 * This file makes what the participants have in common (parts_private.h), begins their parts, and
 * has each participant hand in its part.  Until parts are joined to it (sort_parts.h), the sort
 * itself takes no extents.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "memory/pool.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/parts_private.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "stats/stats.h"

/* Returns how many extents the list has room for. */
static uint32
list_room(int participants)
{
	size_t		head = offsetof(GpuSortParts, entries) + participants * sizeof(PartEntry);

	return head < EXTENT_BYTES ? (EXTENT_BYTES - head) / sizeof(uint32) : 0;
}

void
gpusort_parts_dissolve(GpuSort *sort)
{
	Assert(sort->rows.count == 0);
	sort->parts.joined = NULL;
	gpusort_rewind_ranges(sort);
	gpusort_give_owner(&sort->memory.pool_account);
}

GpuSortParts *
gpusort_parts_create(GpuSort *sort, int participants, double all_rows)
{
	GpuSortPoolAccount *account = &sort->memory.pool_account;
	GpuSortParts *parts;
	uint32		extent;

	gpusort_parts_dissolve(sort);
	if (sort->tuplesort != NULL || account->max_extents == 0 ||
		list_room(participants) < account->max_extents || !gpusort_take_owner(account))
		return NULL;
	if (gpusort_pool_claim(account, 1) == 0 ||
		!gpusort_pool_take(account, GPUSORT_NO_EXTENT, &extent))
	{
		gpusort_give_owner(account);
		return NULL;
	}

	parts = gsd_extent(gpusort_pool, extent);
	memset(parts, 0, offsetof(GpuSortParts, entries) + participants * sizeof(PartEntry));
	parts->owner = account->owner;
	if (sort->shown.activity != NULL)
		sort->shown.activity->owner = account->owner;
	parts->max_extents = account->max_extents;
	parts->reserve_bytes = sort->memory.reserve_bytes;
	parts->row_unit = sort->rows.places.unit;
	parts->max_parts = participants;
	pg_atomic_init_u32(&parts->shares, participants);
	pg_atomic_init_u32(&parts->extents, 1);
	pg_atomic_init_u64(&parts->rows, 0);
	pg_atomic_init_u32(&parts->row_extents, 0);
	pg_atomic_init_u32(&parts->listed, 0);
	pg_atomic_init_u32(&parts->nparts, 0);
	pg_atomic_init_u32(&parts->shares_enforced, 0);
	pg_atomic_init_u32(&parts->nfiles, 0);
	pg_atomic_init_u64(&parts->spilled_rows, 0);
	pg_atomic_init_u32(&parts->kept_extents, 0);
	SpinLockInit(&parts->stats_mutex);
	parts->all_rows = all_rows;
	parts->may_spill = gpusort_may_spill(sort->memory.first_limit_bytes);
	parts->asked = (GpuSortRequest) {
		.equal_rows = sort->tells_equal, .key_rows = sort->key_rows.used, .bound = sort->bound.rows
	};
	if (parts->may_spill)
		parts->files = *gpusort_share_files(sort, participants);

	account->max_extents = 0;
	/* the sort itself stores rows that no part takes, and puts them again behind the others */
	gpusort_use_key_rows(sort, false);
	return parts;
}

void
gpusort_parts_launched(GpuSortParts *parts, int participants)
{
	pg_atomic_write_u32(&parts->shares, Max(participants, 1));
}

uint64
gpusort_parts_rows(GpuSortParts *parts)
{
	return pg_atomic_read_u64(&parts->rows);
}

uint32
gpusort_parts_number(const GpuSortParts *parts)
{
	return ((char *) parts - (char *) gsd_extent(gpusort_pool, 0)) >> GSD_EXTENT_SHIFT;
}

GpuSortParts *
gpusort_parts_attach(uint32 number)
{
	return gsd_extent(gpusort_pool, number);
}

/* Has a part expect the rows of all participants together, whatever its own specification says. */
static void
expect_all_rows(GpuSort *part, const GpuSortParts *parts)
{
	part->spec.expected_rows = part->memory.planned_rows = parts->all_rows;
}

/* Gives a part its memory.  Returns NULL if there is no address space. */
static GpuSort *
begin_part(GpuSortParts *parts, GpuSort *part)
{
	GpuSortMemory *memory = &part->memory;

	part->parts.is_part = true;
	set_row_unit(&part->rows, parts->row_unit);
	memory->limit_bytes = 0;
	memory->reserve_bytes = parts->max_extents * EXTENT_BYTES;
	memory->claimed_rows = &parts->rows;
	memory->pool_account.owner = parts->owner;
	memory->pool_account.max_extents = parts->max_extents;
	memory->pool_account.pool_only = true;
	memory->pool_account.extents = &parts->extents;
	memory->shares_enforced = &parts->shares_enforced;
	expect_all_rows(part, parts);
	memory->shares = &parts->shares;
	memory->shared_extents = parts->max_extents -
		Min(parts->max_extents, pg_atomic_read_u32(&parts->kept_extents));
	if (parts->may_spill)
		gpusort_use_shared_files(part, &parts->files, &parts->nfiles);
	part->tells_equal |= parts->asked.equal_rows;
	gpusort_keep_first(part, parts->asked.bound);
	gpusort_use_key_rows(part, parts->asked.key_rows);
	if (gpusort_acquire_ranges(part))
	{
		gpusort_show_begin(part);
		return part;
	}
	gpusort_release_state(part);
	return NULL;
}

GpuSort *
gpusort_parts_begin_part(GpuSortParts *parts, TupleDesc desc, const GpuSortSpec *spec)
{
	GpuSort    *part = gpusort_make_state(desc, spec, 0);

	gpusort_make_minimal_template(&part->rows.template, desc);
	gpusort_prepare_key_rows(part);
	return begin_part(parts, part);
}

GpuSort *
gpusort_parts_begin_index_part(GpuSortParts *parts, Relation index, const GpuSortSpec *spec)
{
	GpuSort    *part = gpusort_make_state(RelationGetDescr(index), spec, 0);

	part->index_rows = part->tells_equal = true;
	gpusort_make_index_template(&part->rows.template, part->desc);
	return begin_part(parts, part);
}

GpuSort *
gpusort_parts_begin_owner(TupleDesc desc, const GpuSortSpec *spec)
{
	/* begin the trace's file before workers write into it */
	(void) gpusort_trace_begin();
	return gpusort_make_state(desc, spec, gpusort_memory_limit());
}

GpuSort *
gpusort_parts_begin_joined(GpuSortParts *parts, TupleDesc desc, const GpuSortSpec *spec)
{
	GpuSort    *sort = gpusort_make_state(desc, spec, gpusort_memory_limit());

	gpusort_make_minimal_template(&sort->rows.template, desc);
	sort->parts.is_joined = true;
	expect_all_rows(sort, parts);
	sort->tells_equal = parts->asked.equal_rows;
	set_row_unit(&sort->rows, parts->row_unit);
	sort->memory.reserve_bytes = parts->reserve_bytes;
	sort->memory.pool_account.owner = parts->owner;
	sort->memory.pool_account.max_extents = 0;
	if (parts->may_spill)
		gpusort_use_shared_files(sort, &parts->files, &parts->nfiles);
	gpusort_need_ranges(sort);
	gpusort_show_begin(sort);
	return sort;
}

/* A part that is being handed in. */
typedef struct FinishedPart
{
	GpuSortParts *parts;
	PartEntry  *entry;
} FinishedPart;

/*
 * Lists the extents of a range that the part's rows take, and gives the others back.  A workspace
 * has fewer extents than rows need if the system had no memory for it when they were to be spilled.
 */
static bool
list_range(GpuSortRange **range, size_t bytes, void *arg)
{
	GpuSortParts *parts = ((FinishedPart *) arg)->parts;
	PartExtents *extents = &((FinishedPart *) arg)->entry->extents[(*range)->role];

	extents->count = Min((bytes + EXTENT_BYTES - 1) / EXTENT_BYTES, (*range)->nowned);
	extents->first = pg_atomic_fetch_add_u32(&parts->listed, extents->count);
	if (extents->first + extents->count > list_room(parts->max_parts))
		elog(ERROR, "gpusort: extents of a shared sort don't fit into their list");
	gpusort_range_yield(*range, extents->count, parts_list(parts) + extents->first);
	return true;
}

/* Moves a part's references to where its rows lie in the row store of all parts. */
static void
move_refs(const GpuSortRows *rows, GpuSortKeys *keys, uint32 first_row_extent)
{
	size_t		offset = first_row_extent * EXTENT_BYTES;
	uint32		units = (uint32) (offset / rows->places.unit);

	/* rows that are made of their keys have no references */
	if (offset == 0 || rows->used == 0)
		return;
	for (uint64 id = 0; id < rows->count; id++)
		rows->places.refs[id] += units;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortColumn *column = &keys->columns[i];

		CHECK_FOR_INTERRUPTS();
		if (column->facts.common_ref != 0)
			column->facts.common_ref += KEY_REF(offset, 0);
		if (column->refs == NULL)
			continue;
		/* a string that lies in its word entirely has no offset */
		for (uint64 id = 0; id < rows->count; id++)
			if (KEY_REF_OFFSET(RANGE_U64(column->refs)[id]) != 0)
				RANGE_U64(column->refs)[id] += KEY_REF(offset, 0);
	}
}

/*
 * Lets other processes read the part's runs.  Once some part has spilled, all parts do: instead of
 * one process writing all remaining rows at the end, each participant writes its own.
 */
static void
finish_runs(GpuSortParts *parts, GpuSort *part)
{
	GpuSortSpill *spill = part->runs.spill;

	if (spill == NULL)
		return;
	if (part->rows.count > 0 && !spill->refused && pg_atomic_read_u32(&parts->shares_enforced) != 0)
		(void) gpusort_spill_rows(part);
	if (spill->file == NULL)
		return;
	gpusort_publish_runs(part);
	pg_atomic_fetch_add_u64(&parts->spilled_rows, spill->rows);
	pg_atomic_fetch_add_u32(&parts->kept_extents, gpusort_run_file_extents(spill->file));
}

void
gpusort_parts_finish_part(GpuSortParts *parts, GpuSort *part)
{
	GpuSortRows *rows = &part->rows;
	uint32		row_extents;
	uint32		number;
	PartEntry  *entry;

	finish_runs(parts, part);
	SpinLockAcquire(&parts->stats_mutex);
	gpusort_counters_merge(&parts->stats, &part->stats, NULL);
	SpinLockRelease(&parts->stats_mutex);
	if (rows->count == 0)
		return;
	row_extents = (rows->used + EXTENT_BYTES - 1) / EXTENT_BYTES;
	number = pg_atomic_fetch_add_u32(&parts->nparts, 1);
	if (number >= parts->max_parts)
		elog(ERROR, "gpusort: more parts of a sort than participants");
	entry = &parts->entries[number];
	entry->first_row_extent = pg_atomic_fetch_add_u32(&parts->row_extents, row_extents);
	move_refs(rows, &part->keys, entry->first_row_extent);
	entry->uniform = rows->places.uniform;
	entry->stride = rows->places.stride;
	entry->index = part->index;
	for (int i = 0; i < part->keys.ncolumns; i++)
		entry->columns[i] = part->keys.columns[i].facts;
	gpusort_visit_ranges(part, rows->count, list_range, &(FinishedPart) {parts, entry});
	entry->nrows = rows->count;
	rows->count = 0;
}
