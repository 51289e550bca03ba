/*
 * sort_parts_join.c
 *		Makes the parts of a shared sort the rows of one sort (parts_layout.h).
 *
 * Ranges of the sort adopt the extents of the parts; only nulls and what is left of each
 * part behind its granules are copied.  Rows that were put into the sort itself before
 * lie in private memory and are put again, behind all others.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "elapsed.h"
#include "interrupts.h"
#include "memory/pool.h"
#include "memory/range_extents.h"
#include "sort/parts_layout.h"
#include "sort/sort_put.h"

/* Extents of a granule in a range of this role; 0: not made of granules. */
static uint32
granule_extents(int role)
{
	if (role == GPUSORT_RANGE_ROW_REFS)
		return 1;
	if (role < GPUSORT_RANGE_PLANE ||
		(role - GPUSORT_RANGE_PLANE) % GPUSORT_COLUMN_ROLES == GPUSORT_NULLS_ROLE)
		return 0;
	return sizeof(uint64) / sizeof(uint32);
}

/* Take extents of a part's list out of it, to be at list[*at] and behind. */
static void
take_listed(GpuSortParts *parts, const PartExtents *extents, uint32 count, uint32 *list,
			uint32 *at)
{
	uint32	   *listed = parts_list(parts) + extents->first;

	memcpy(list + *at, listed, count * sizeof(uint32));
	memset(listed, 0xff, count * sizeof(uint32));	/* NO_EXTENT */
	*at += count;
}

/* Let a range of the sort have the extents that parts have for it. */
static bool
adopt_extents(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	GpuSortParts *parts = sort->member.parts;
	int			role = (*range)->role;
	uint32		nparts = pg_atomic_read_u32(&parts->nparts);
	uint32	   *list = palloc(pg_atomic_read_u32(&parts->listed) * sizeof(uint32));
	uint32		count = 0;
	bool		in_use = true;
	size_t		adopted;

	for (uint32 i = 0; i < nparts; i++)
	{
		const PartEntry *part = &parts->entries[i];
		const PartExtents *extents = &part->extents[role];

		if (granule_extents(role) > 0)
			take_listed(parts, extents, part->nrows / GPUSORT_GRANULE_ROWS * granule_extents(role), list,
						&count);
		else if (role == GPUSORT_RANGE_ROWS)
		{
			uint32		at = part->first_row_extent;

			take_listed(parts, extents, extents->count, list, &at);
			count += extents->count;
		}
		else
		{
			/* workspace: used when the sort begins */
			in_use = false;
			take_listed(parts, extents, extents->count, list, &count);
		}
	}
	adopted = count * EXTENT_BYTES;
	if (!gpusort_range_adopt(*range, list, count) ||
		(in_use && (!gpusort_grow_in_steps(sort, *range, adopted) ||
					gpusort_range_pool_bytes(*range) < adopted)))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to map %zu MB of rows that other processes have collected.",
						   adopted >> 20)));
	pfree(list);
	return true;
}

/* Element `at` of a part's array of elements of so many bytes. */
static const char *
part_element(GpuSortParts *parts, const PartExtents *extents, uint64 at, size_t element_bytes,
			 uint64 *contiguous)
{
	size_t		offset = at * element_bytes;
	uint32		extent = parts_list(parts)[extents->first + offset / EXTENT_BYTES];

	*contiguous = (EXTENT_BYTES - offset % EXTENT_BYTES) / element_bytes;
	return (const char *) gsd_extent(gpusort_pool, extent) + offset % EXTENT_BYTES;
}

/* Copy elements [from, from + count) of a part's array to the end of the sort's. */
static void
copy_elements(GpuSort *sort, GpuSortRange *range, const PartEntry *part, uint64 from,
			  uint64 count, size_t element_bytes)
{
	char	   *to;

	if (range == NULL)
		return;
	to = range->base + sort->rows.count * element_bytes;
	while (count > 0)
	{
		uint64		step;
		const char *source = part_element(sort->member.parts, &part->extents[range->role], from,
										  element_bytes, &step);

		step = Min(step, count);
		memcpy(to, source, step * element_bytes);
		to += step * element_bytes;
		from += step;
		count -= step;
	}
}

/* Set the null bits of rows from .. from + count of a part, which are `at` in the sort. */
static void
copy_nulls(GpuSort *sort, GpuSortColumn *column, const PartEntry *part, uint64 from,
		   uint64 count, uint64 at)
{
	const PartExtents *extents;

	if (column->nulls == NULL)
		return;
	extents = &part->extents[column->nulls->role];
	for (uint64 i = from; i < from + count && extents->count > 0; i++)
	{
		uint64		step;
		uint64		word = *(const uint64 *) part_element(sort->member.parts, extents, i / 64,
														  sizeof(uint64), &step);
		uint64		to = at + i - from;

		if (i % 64 == 0 && to % 64 == 0 && from + count - i >= 64)
		{
			RANGE_U64(column->nulls)[to / 64] = word;
			i += 63;
		}
		else if ((word >> (i % 64) & 1) != 0)
			RANGE_U64(column->nulls)[to / 64] |= UINT64CONST(1) << (to % 64);
	}
}

/* Copy the rows of a part that fill no granule. */
static void
copy_rest(GpuSort *sort, const PartEntry *part)
{
	uint64		from = part->nrows / GPUSORT_GRANULE_ROWS * GPUSORT_GRANULE_ROWS;
	uint64		count = part->nrows - from;

	copy_elements(sort, sort->rows.refs, part, from, count, sizeof(uint32));
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		copy_elements(sort, column->prefix, part, from, count, sizeof(uint64));
		copy_elements(sort, column->refs, part, from, count, sizeof(uint64));
		for (int w = 0; w < column->nwords; w++)
			copy_elements(sort, column->words[w], part, from, count, sizeof(uint64));
		copy_nulls(sort, column, part, from, count, sort->rows.count);
	}
	sort->rows.count += count;
}

/* What is known about the strings of a column, all parts together. */
static void
join_column(GpuSort *sort, GpuSortColumn *column, const GpuSortStringFacts *other)
{
	column->facts.long_keys |= other->long_keys;
	if (column->facts.common_len == 0 || other->common_ref == 0)
		column->facts.common_len = Min(column->facts.common_len, other->common_len);
	else
		gpusort_note_common_prefix(sort, column, other->common_ref,
								   string_by_ref(&sort->rows, other->common_ref), other->common_len);
}

/* A bitmap for the column's nulls, if any part has some. */
static void
begin_nulls(GpuSort *sort, int i, uint32 nparts)
{
	GpuSortColumn *column = &sort->keys.columns[i];
	int			role = GPUSORT_PLANE_ROLE(i, GPUSORT_NULLS_ROLE);
	bool		any = false;

	for (uint32 p = 0; p < nparts; p++)
		any |= sort->member.parts->entries[p].extents[role].count > 0;
	if (!any)
		return;
	column->nulls = gpusort_acquire_bitmap(sort, role);
	if (column->nulls == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	memset(column->nulls->base, 0, (sort->memory.capacity + 63) / 64 * sizeof(uint64));
}

/* Put the planes together: the granules, which were adopted, and the rest. */
static void
join_planes(GpuSort *sort, uint32 nparts)
{
	const PartEntry *entries = sort->member.parts->entries;
	uint64		rows = 0;
	uint64		at = 0;

	for (uint32 p = 0; p < nparts; p++)
	{
		sort->rows.count += entries[p].nrows / GPUSORT_GRANULE_ROWS * GPUSORT_GRANULE_ROWS;
		rows += entries[p].nrows;
	}
	sort->memory.capacity = sort->rows.count;
	if (!gpusort_grow_planes_to(sort, rows))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	for (int i = 0; i < sort->keys.ncolumns; i++)
		begin_nulls(sort, i, nparts);
	for (uint32 p = 0; p < nparts; p++)
	{
		uint64		full = entries[p].nrows / GPUSORT_GRANULE_ROWS * GPUSORT_GRANULE_ROWS;

		for (int i = 0; i < sort->keys.ncolumns; i++)
		{
			copy_nulls(sort, &sort->keys.columns[i], &entries[p], 0, full, at);
			join_column(sort, &sort->keys.columns[i], &entries[p].columns[i]);
		}
		at += full;
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 p = 0; p < nparts; p++)
		copy_rest(sort, &entries[p]);
}

/* Give back extents of parts that nobody has adopted. */
static void
give_rest(GpuSortParts *parts)
{
	const uint32 *list = parts_list(parts);

	for (uint32 i = 0; i < pg_atomic_read_u32(&parts->listed); i++)
	{
		if (list[i] == NO_EXTENT)
			continue;
		gsd_give_extent(gpusort_pool->header, list[i], parts->owner);
		pg_atomic_fetch_sub_u32(&parts->extents, 1);
	}
	pg_atomic_write_u32(&parts->listed, 0);
}

/* If all rows have the same length, the granules' places tell where they are. */
static void
locate_granules(GpuSort *sort, uint32 nparts)
{
	const PartEntry *entries = sort->member.parts->entries;
	uint64		granules = 0;
	uint64		at = 0;
	size_t		stride = 0;

	for (uint32 p = 0; p < nparts; p++)
	{
		if (entries[p].nrows < GPUSORT_GRANULE_ROWS)
			continue;
		if (!entries[p].uniform || (granules > 0 && entries[p].stride != stride))
			return;
		granules += entries[p].nrows / GPUSORT_GRANULE_ROWS;
		stride = entries[p].stride;
	}
	sort->rows.places.granule_offsets = MemoryContextAlloc(sort->context, (granules + 1) * sizeof(size_t));
	for (uint32 p = 0; p < nparts; p++)
		for (uint64 i = 0; i < entries[p].nrows / GPUSORT_GRANULE_ROWS; i++)
			sort->rows.places.granule_offsets[at++] = entries[p].first_row_extent * EXTENT_BYTES +
				i * GPUSORT_GRANULE_ROWS * stride;
	sort->rows.places.granule_rows = granules * GPUSORT_GRANULE_ROWS;
	sort->rows.places.stride = stride;
}

/* All parts become the rows of a sort that has none. */
static void
join_parts(GpuSort *sort)
{
	GpuSortParts *parts = sort->member.parts;
	uint32		nparts = pg_atomic_read_u32(&parts->nparts);
	bool		one = nparts == 1;

	sort->memory.pool_share.max_extents = parts->max_extents;
	sort->memory.pool_share.extents = &parts->extents;
	if (nparts > 0)
	{
		gpusort_visit_memory(sort, 0, adopt_extents);
		sort->rows.used = pg_atomic_read_u32(&parts->row_extents) * EXTENT_BYTES;
		join_planes(sort, nparts);
		sort->rows.places.uniform = one && parts->entries[0].uniform && parts->entries[0].first_row_extent == 0;
		sort->rows.places.stride = parts->entries[0].stride;
		if (!sort->rows.places.uniform)
			locate_granules(sort, nparts);
		sort->index.tids_ordered = one && parts->entries[0].index.tids_ordered;
		sort->index.last_tid = parts->entries[0].index.last_tid;
		for (uint32 p = 0; p < nparts; p++)
		{
			sort->index.any_dead |= parts->entries[p].index.any_dead;
			sort->index.other_lengths |= parts->entries[p].index.other_lengths;
		}
		give_rest(parts);
		gpusort_set_rows_end(sort);
	}
	pg_atomic_write_u32(&sort->memory.pool_share.own_extents, pg_atomic_read_u32(&parts->extents));
	sort->memory.pool_share.extents = &sort->memory.pool_share.own_extents;
	sort->stats.rows += sort->rows.count;
	sort->stats.joined_rows = sort->rows.count;
}

/* Set the rows that were put into the sort itself aside. */
static void
set_rows_aside(GpuSort *sort)
{
	sort->aside = sort->rows;
	sort->rows.store = NULL;
	sort->rows.refs = NULL;
	gpusort_release_planes(sort);
	gpusort_forget_rows(sort);
	sort->memory.capacity = 0;
	if (!gpusort_acquire_memory(sort))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to reserve address space for a sort.")));
}

/* Put rows that were set aside into the sort again, behind those of its parts. */
static void
put_rows_again(GpuSort *sort)
{
	const GpuSortRows *rows = &sort->aside;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	size_t		discarded = 0;

	for (uint64 id = 0; id < rows->count; id++)
	{
		char	   *row = gpusort_row_at(&rows->places, (uint32) id);

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_discard_read_rows(rows->store, &discarded, row - rows->places.base);
		if (!sort->index_rows)
		{
			ExecStoreMinimalTuple((MinimalTuple) row, slot, false);
			gpusort_put_slot(sort, slot);
		}
		else if (!gpusort_put_index_tuple(sort, (IndexTuple) row))
			break;
	}
	ExecDropSingleTupleTableSlot(slot);
	gpusort_release_rows_aside(sort);
}

void
gpusort_parts_join(GpuSortParts *parts, GpuSort *sort)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	sort->member.parts = parts;
	if (sort->tuplesort != NULL)
	{
		gpusort_rewind_memory(sort);
		gpusort_release_nulls(sort);
		join_parts(sort);
		gpusort_move_to_tuplesort(sort);
	}
	else if (sort->rows.count == 0)
	{
		gpusort_rewind_memory(sort);
		join_parts(sort);
	}
	else
	{
		set_rows_aside(sort);
		join_parts(sort);
		put_rows_again(sort);
	}
	sort->member.parts = NULL;
	sort->stats.join_time = gpusort_elapsed(start);
}
