/*
 * sort_parts.c
 *		One sort whose rows are collected by several processes; see sort_parts.h.
 *
 * Makes what they share (parts_layout.h), and has each of them hand in its part.
 * Until parts are joined to it (sort_parts_join.c), the sort itself takes no extents.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "memory/pool.h"
#include "memory/range_extents.h"
#include "sort/parts_layout.h"

/* Numbers of shared sorts of this process that are in use, from 1. */
static bool numbers_used[GSD_OWNER_SORTS];

/* Most extents that the list has room for. */
static uint32
list_room(int participants)
{
	size_t		head = offsetof(GpuSortParts, entries) + participants * sizeof(PartEntry);

	return head < EXTENT_BYTES ? (EXTENT_BYTES - head) / sizeof(uint32) : 0;
}

/* The owner word for a new shared sort; that of the process if there is none. */
static uint32
take_owner(void)
{
	for (uint32 number = 1; number < GSD_OWNER_SORTS; number++)
		if (!numbers_used[number])
		{
			numbers_used[number] = true;
			return gsd_owner(MyProcPid, number);
		}
	return gsd_owner(MyProcPid, 0);
}

void
gpusort_parts_end(GpuSort *sort)
{
	uint32		number = sort->memory.pool_share.owner >> GSD_OWNER_PID_BITS;

	if (sort->member.is_part || sort->member.is_joined || number == 0)
		return;
	gsd_give_all(gpusort_pool->header, sort->memory.pool_share.owner);
	numbers_used[number] = false;
	sort->memory.pool_share.owner = gsd_owner(MyProcPid, 0);
	sort->memory.pool_share.max_extents = gpusort_pool_quota_extents();
	pg_atomic_write_u32(&sort->memory.pool_share.own_extents, 0);
}

void
gpusort_parts_dissolve(GpuSort *sort)
{
	Assert(sort->rows.count == 0);
	gpusort_rewind_memory(sort);
	gpusort_parts_end(sort);
}

GpuSortParts *
gpusort_parts_create(GpuSort *sort, int participants)
{
	GpuSortParts *parts;
	uint32		extent;
	uint32		owner;

	gpusort_parts_dissolve(sort);
	if (sort->tuplesort != NULL || sort->memory.pool_share.max_extents == 0 ||
		list_room(participants) < sort->memory.pool_share.max_extents)
		return NULL;
	owner = take_owner();
	if (owner == sort->memory.pool_share.owner)
		return NULL;
	sort->memory.pool_share.owner = owner;
	gpusort_extents_register_exit();
	if (!gsd_take_any(gpusort_pool->header, owner, &extent))
	{
		gpusort_parts_end(sort);
		return NULL;
	}

	parts = gsd_extent(gpusort_pool, extent);
	memset(parts, 0, offsetof(GpuSortParts, entries) + participants * sizeof(PartEntry));
	parts->owner = owner;
	parts->max_extents = sort->memory.pool_share.max_extents;
	parts->reserve_bytes = sort->memory.reserve_bytes;
	parts->row_unit = sort->rows.places.unit;
	parts->max_parts = participants;
	pg_atomic_init_u32(&parts->extents, 1);
	pg_atomic_init_u64(&parts->rows, 0);
	pg_atomic_init_u32(&parts->row_extents, 0);
	pg_atomic_init_u32(&parts->listed, 0);
	pg_atomic_init_u32(&parts->nparts, 0);

	sort->memory.pool_share.max_extents = 0;
	return parts;
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

/* Make a sort that has no memory yet a part of a shared one. */
void
gpusort_parts_enter(GpuSortParts *parts, GpuSort *part)
{
	part->member.is_part = true;
	part->member.parts = parts;
	part->memory.limit_bytes = 0;
	part->memory.reserve_bytes = parts->max_extents * EXTENT_BYTES;
	part->rows.places.unit = parts->row_unit;
	part->rows.shift = pg_leftmost_one_pos64(parts->row_unit);
	part->memory.pool_share.owner = parts->owner;
	part->memory.pool_share.max_extents = parts->max_extents;
	part->memory.pool_share.extents = &parts->extents;
}

/* Make a sort that has no memory yet one that parts will be joined to. */
void
gpusort_parts_enter_joined(GpuSortParts *parts, GpuSort *sort)
{
	sort->member.is_joined = true;
	sort->memory.reserve_bytes = parts->reserve_bytes;
	sort->rows.places.unit = parts->row_unit;
	sort->memory.pool_share.owner = parts->owner;
	sort->memory.pool_share.max_extents = 0;
}

/* Let a part's planes have room for so many rows more; false if that were too many. */
bool
gpusort_parts_claim_rows(GpuSortParts *parts, uint64 rows)
{
	if (pg_atomic_fetch_add_u64(&parts->rows, rows) + rows <= PG_UINT32_MAX)
		return true;
	pg_atomic_fetch_sub_u64(&parts->rows, rows);
	return false;
}

/* List the extents that the part's rows take of a range; the others are given back. */
static bool
list_range(GpuSort *part, GpuSortRange **range, size_t bytes)
{
	GpuSortParts *parts = part->member.parts;
	PartExtents *extents = &parts->entries[part->member.number].extents[(*range)->role];

	extents->count = (bytes + EXTENT_BYTES - 1) / EXTENT_BYTES;
	extents->first = pg_atomic_fetch_add_u32(&parts->listed, extents->count);
	if (extents->first + extents->count > list_room(parts->max_parts))
		elog(ERROR, "gpusort: extents of a shared sort don't fit into their list");
	gpusort_range_yield(*range, extents->count, parts_list(parts) + extents->first);
	return true;
}

/* Count offsets in the row store of all. */
static void
move_refs(GpuSort *part, uint32 first_row_extent)
{
	size_t		offset = first_row_extent * EXTENT_BYTES;
	uint32		units = (uint32) (offset / part->rows.places.unit);

	if (offset == 0)
		return;
	for (uint64 id = 0; id < part->rows.count; id++)
		part->rows.places.refs[id] += units;
	for (int i = 0; i < part->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &part->keys.columns[i];

		CHECK_FOR_INTERRUPTS();
		if (column->facts.common_ref != 0)
			column->facts.common_ref += KEY_REF(offset, 0);
		if (column->refs == NULL)
			continue;
		/* a string that lies in its word has no offset */
		for (uint64 id = 0; id < part->rows.count; id++)
			if (KEY_REF_OFFSET(RANGE_U64(column->refs)[id]) != 0)
				RANGE_U64(column->refs)[id] += KEY_REF(offset, 0);
	}
}

void
gpusort_parts_finish_part(GpuSortParts *parts, GpuSort *part)
{
	uint32		row_extents = (part->rows.used + EXTENT_BYTES - 1) / EXTENT_BYTES;
	PartEntry  *published;

	if (part->rows.count == 0)
		return;
	part->member.number = pg_atomic_fetch_add_u32(&parts->nparts, 1);
	if (part->member.number >= parts->max_parts)
		elog(ERROR, "gpusort: more parts of a sort than participants");
	published = &parts->entries[part->member.number];
	published->first_row_extent = pg_atomic_fetch_add_u32(&parts->row_extents, row_extents);
	move_refs(part, published->first_row_extent);
	published->uniform = part->rows.places.uniform;
	published->stride = part->rows.places.stride;
	published->index = part->index;
	for (int i = 0; i < part->keys.ncolumns; i++)
		published->columns[i] = part->keys.columns[i].facts;
	gpusort_visit_memory(part, part->rows.count, list_range);
	published->nrows = part->rows.count;
	part->rows.count = 0;
}
