/*
 * parts_join.c
 *		Making the parts of a shared sort the rows of one sort; see sort_parts.h.
 *
 * The sort's ranges adopt the extents of the parts (parts_private.h).  Only bitmaps of nulls are
 * copied, and the rows that each part has behind its last whole granule, less than a granule.  Rows
 * that were put into the sort itself before lie in private memory.  They are put once more, behind
 * the rows of the parts.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "elapsed.h"
#include "interrupts.h"
#include "memory/pool.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/parts_private.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/sort_parts.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/* A join: nparts parts, which become the rows of a sort. */
typedef struct Join
{
	GpuSort    *sort;
	GpuSortParts *parts;
	uint32		nparts;
} Join;

/* Consecutive rows of a part. */
typedef struct Stretch
{
	const PartEntry *part;
	uint64		from;
	uint64		count;
} Stretch;

/* Returns how many rows of a part are in whole granules. */
static uint64
granule_rows(const PartEntry *part)
{
	return part->nrows / GPUSORT_GRANULE_ROWS * GPUSORT_GRANULE_ROWS;
}

/*
 * Returns how many extents a granule fills in a range of this role, or 0 if the range does not
 * consist of granules.
 */
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

/*
 * Moves the first `count` extents of a part from the parts' list to list[*at] and behind, and
 * advances *at.
 */
static void
take_listed(GpuSortParts *parts, const PartExtents *extents, uint32 count, uint32 *list,
			uint32 *at)
{
	uint32	   *listed = parts_list(parts) + extents->first;

	memcpy(list + *at, listed, count * sizeof(uint32));
	memset(listed, 0xff, count * sizeof(uint32));	/* GPUSORT_NO_EXTENT */
	*at += count;
}

/*
 * Lets a range of the sort adopt the extents that the parts have for ranges of this role.  A
 * visitor of ranges (sort_ranges.c), which raises an error if they can't be mapped.
 */
static bool
adopt_extents(GpuSortRange **range, size_t bytes, void *arg)
{
	const Join *join = arg;
	GpuSortParts *parts = join->parts;
	int			role = (*range)->role;
	uint32		per_granule = granule_extents(role);
	uint32	   *list = palloc(pg_atomic_read_u32(&parts->listed) * sizeof(uint32));
	uint32		count = 0;
	bool		in_use = true;
	size_t		adopted;

	for (uint32 i = 0; i < join->nparts; i++)
	{
		const PartEntry *part = &parts->entries[i];
		const PartExtents *extents = &part->extents[role];

		/* as for references, if rows are made of their keys */
		if (extents->count == 0)
			continue;
		if (per_granule > 0)
			take_listed(parts, extents, part->nrows / GPUSORT_GRANULE_ROWS * per_granule, list,
						&count);
		else if (role == GPUSORT_RANGE_ROWS)
		{
			uint32		at = part->first_row_extent;

			take_listed(parts, extents, extents->count, list, &at);
			count += extents->count;
		}
		else
		{
			/* the workspace is used only when sorting begins */
			in_use = false;
			take_listed(parts, extents, extents->count, list, &count);
		}
	}
	adopted = count * EXTENT_BYTES;
	if (!gpusort_range_adopt(*range, list, count) ||
		(in_use && (!gpusort_grow_in_steps(join->sort, *range, adopted) ||
					gpusort_range_pool_bytes(*range) < adopted)))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to map %zu MB of rows that other processes have collected.",
						   adopted >> 20)));
	pfree(list);
	return true;
}

/*
 * Returns the address of element `at` in an array of a part, whose elements have element_bytes each
 * and lie in these extents.  *contiguous tells how many elements follow up to the end of its
 * extent.
 */
static const char *
part_element(GpuSortParts *parts, const PartExtents *extents, uint64 at, size_t element_bytes,
			 uint64 *contiguous)
{
	size_t		offset = at * element_bytes;
	uint32		extent = parts_list(parts)[extents->first + offset / EXTENT_BYTES];

	*contiguous = (EXTENT_BYTES - offset % EXTENT_BYTES) / element_bytes;
	return (const char *) gsd_extent(gpusort_pool, extent) + offset % EXTENT_BYTES;
}

/*
 * Copies the elements of rows of a part to the end of the same array of the sort, which lies in
 * `range`; NULL: there is no such array.
 */
static void
copy_elements(const Join *join, GpuSortRange *range, Stretch rows, size_t element_bytes)
{
	char	   *to;

	if (range == NULL)
		return;
	to = range->base + join->sort->rows.count * element_bytes;
	while (rows.count > 0)
	{
		uint64		step;
		const char *source = part_element(join->parts, &rows.part->extents[range->role],
										  rows.from, element_bytes, &step);

		step = Min(step, rows.count);
		memcpy(to, source, step * element_bytes);
		to += step * element_bytes;
		rows.from += step;
		rows.count -= step;
	}
}

/*
 * Copies the null bits of a column for rows of a part, the first of which is row `at` of the sort.
 */
static void
copy_nulls(const Join *join, GpuSortColumn *column, const Stretch *rows, uint64 at)
{
	const PartExtents *extents;

	if (column->nulls == NULL)
		return;
	extents = &rows->part->extents[column->nulls->role];
	for (uint64 i = rows->from; i < rows->from + rows->count && extents->count > 0; i++)
	{
		uint64		step;
		uint64		word = *(const uint64 *) part_element(join->parts, extents, i / 64,
														  sizeof(uint64), &step);
		uint64		to = at + i - rows->from;

		if (i % 64 == 0 && to % 64 == 0 && rows->from + rows->count - i >= 64)
		{
			RANGE_U64(column->nulls)[to / 64] = word;
			i += 63;
		}
		else if ((word >> (i % 64) & 1) != 0)
			RANGE_U64(column->nulls)[to / 64] |= UINT64CONST(1) << (to % 64);
	}
}

/* Copies the rows of a part that are behind its whole granules to the end of the sort. */
static void
copy_rest(const Join *join, const PartEntry *part)
{
	GpuSort    *sort = join->sort;
	uint64		from = granule_rows(part);
	Stretch		rest = {part, from, part->nrows - from};

	if (!sort->key_rows.used)
		copy_elements(join, sort->rows.refs, rest, sizeof(uint32));
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		copy_elements(join, column->prefix, rest, sizeof(uint64));
		copy_elements(join, column->refs, rest, sizeof(uint64));
		for (int w = 0; w < column->nwords; w++)
			copy_elements(join, column->words[w], rest, sizeof(uint64));
		copy_nulls(join, column, &rest, sort->rows.count);
	}
	sort->rows.count += rest.count;
}

/*
 * Adds what is known about the strings of a column in one part to what is known about them in the
 * sort.
 */
static void
join_facts(GpuSortStringFacts *facts, const char *base, const GpuSortStringFacts *other)
{
	facts->long_keys |= other->long_keys;
	if (facts->common_len == 0 || other->common_ref == 0)
		facts->common_len = Min(facts->common_len, other->common_len);
	else
		gpusort_note_common_prefix(facts, base, other->common_ref,
								   string_by_ref(base, other->common_ref), other->common_len);
}

/* Makes the sort's bitmap of nulls for column i, if any part has nulls in it. */
static void
begin_nulls(const Join *join, int i)
{
	GpuSort    *sort = join->sort;
	GpuSortColumn *column = &sort->keys.columns[i];
	int			role = GPUSORT_PLANE_ROLE(i, GPUSORT_NULLS_ROLE);
	bool		any = false;

	for (uint32 p = 0; p < join->nparts; p++)
		any |= join->parts->entries[p].extents[role].count > 0;
	if (!any)
		return;
	column->nulls = gpusort_acquire_bitmap(sort, role);
	if (column->nulls == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	memset(column->nulls->base, 0, gpusort_bitmap_bytes(sort->memory.capacity));
}

/*
 * Puts the sort's planes together, of the granules, which the ranges have adopted, and of the rows
 * behind them, which are copied.
 */
static void
join_planes(const Join *join)
{
	GpuSort    *sort = join->sort;
	const PartEntry *entries = join->parts->entries;
	uint64		rows = 0;
	uint64		at = 0;

	for (uint32 p = 0; p < join->nparts; p++)
	{
		sort->rows.count += granule_rows(&entries[p]);
		rows += entries[p].nrows;
	}
	sort->memory.capacity = sort->rows.count;
	if (!gpusort_grow_planes_to(sort, rows))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	for (int i = 0; i < sort->keys.ncolumns; i++)
		begin_nulls(join, i);
	for (uint32 p = 0; p < join->nparts; p++)
	{
		Stretch		full = {&entries[p], 0, granule_rows(&entries[p])};

		for (int i = 0; i < sort->keys.ncolumns; i++)
		{
			GpuSortColumn *column = &sort->keys.columns[i];

			copy_nulls(join, column, &full, at);
			join_facts(&column->facts, sort->rows.places.base, &entries[p].columns[i]);
		}
		at += full.count;
		CHECK_FOR_INTERRUPTS();
	}
	for (uint32 p = 0; p < join->nparts; p++)
		copy_rest(join, &entries[p]);
}

/* Gives back the extents of parts that no range has adopted. */
static void
give_rest(GpuSortParts *parts)
{
	const uint32 *list = parts_list(parts);

	for (uint32 i = 0; i < pg_atomic_read_u32(&parts->listed); i++)
	{
		if (list[i] == GPUSORT_NO_EXTENT)
			continue;
		gsd_give_extent(gpusort_pool->header, list[i], parts->owner);
		pg_atomic_fetch_sub_u32(&parts->extents, 1);
	}
	pg_atomic_write_u32(&parts->listed, 0);
}

/*
 * Notes where each granule of rows begins, if the rows in all granules have the same length.  Then
 * their places are known without looking at references (sort_view.h).
 */
static void
locate_granules(const Join *join)
{
	const PartEntry *entries = join->parts->entries;
	GpuSortRowPlaces *places = &join->sort->rows.places;
	uint64		granules = 0;
	uint64		at = 0;
	size_t		stride = 0;

	for (uint32 p = 0; p < join->nparts; p++)
	{
		if (entries[p].nrows < GPUSORT_GRANULE_ROWS)
			continue;
		if (!entries[p].uniform || (granules > 0 && entries[p].stride != stride))
			return;
		granules += entries[p].nrows / GPUSORT_GRANULE_ROWS;
		stride = entries[p].stride;
	}
	places->granule_offsets = MemoryContextAlloc(join->sort->context,
												 (granules + 1) * sizeof(size_t));
	for (uint32 p = 0; p < join->nparts; p++)
		for (uint64 row = 0; row < granule_rows(&entries[p]); row += GPUSORT_GRANULE_ROWS)
			places->granule_offsets[at++] = entries[p].first_row_extent * EXTENT_BYTES +
				row * stride;
	places->granule_rows = granules * GPUSORT_GRANULE_ROWS;
	places->stride = stride;
}

/* Sets what is known about the rows of the sort, from what is known about those of each part. */
static void
join_rows(const Join *join)
{
	GpuSort    *sort = join->sort;
	const PartEntry *first = join->parts->entries;
	bool		one = join->nparts == 1;

	sort->rows.places.uniform = one && first->uniform && first->first_row_extent == 0;
	sort->rows.places.stride = first->stride;
	if (!sort->rows.places.uniform)
		locate_granules(join);
	sort->index.tids_ordered = one && first->index.tids_ordered;
	sort->index.last_tid = first->index.last_tid;
	for (uint32 p = 0; p < join->nparts; p++)
	{
		sort->index.any_dead |= first[p].index.any_dead;
		sort->index.other_lengths |= first[p].index.other_lengths;
	}
}

/* Makes all parts the rows of a sort, which has none. */
static void
join_parts(Join *join)
{
	GpuSort    *sort = join->sort;
	GpuSortParts *parts = join->parts;
	GpuSortPoolAccount *account = &sort->memory.pool_account;

	account->max_extents = parts->max_extents;
	gpusort_use_key_rows(sort, parts->asked.key_rows);
	if (sort->key_rows.used != parts->asked.key_rows)
		elog(ERROR, "gpusort: parts have other rows than the sort");
	if (join->nparts > 0)
	{
		gpusort_visit_ranges(sort, 0, adopt_extents, join);
		sort->rows.used = pg_atomic_read_u32(&parts->row_extents) * EXTENT_BYTES;
		join_planes(join);
		join_rows(join);
		give_rest(parts);
		gpusort_set_rows_end(sort);
	}
	pg_atomic_write_u32(&account->own_extents, pg_atomic_read_u32(&parts->extents));
	account->extents = &account->own_extents;
	sort->parts.joined = parts;
	sort->stats.rows += sort->rows.count;
	sort->stats.joined_rows = sort->rows.count;
}

/* Sets aside the rows that were put into the sort itself. */
static void
set_rows_aside(GpuSort *sort)
{
	uint64		dropped = sort->stats.dropped_rows;

	sort->parts.aside = sort->rows;
	sort->rows.store = NULL;
	sort->rows.refs = NULL;
	gpusort_forget_rows(sort);
	gpusort_rewind_ranges(sort);
	gpusort_need_ranges(sort);
	sort->stats.rows = sort->stats.dropped_rows = dropped;
}

/* Puts the rows that were set aside into the sort again, behind those of its parts. */
static void
put_rows_again(GpuSort *sort)
{
	GpuSortRows *rows = &sort->parts.aside;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	size_t		discarded = 0;

	for (uint64 id = 0; id < rows->count; id++)
	{
		void	   *row = gpusort_row_at(&rows->places, (uint32) id);

		if (id % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_discard_read_rows(rows, &discarded, row);
		if (!sort->index_rows)
		{
			ExecStoreMinimalTuple(row, slot, false);
			gpusort_put_slot(sort, slot);
		}
		else if (!gpusort_put_index_tuple(sort, row))
			break;
	}
	ExecDropSingleTupleTableSlot(slot);
	gpusort_release_aside(sort);
}

/* Makes the runs of the parts runs of the sort. */
static void
join_runs(GpuSortParts *parts, GpuSort *sort)
{
	uint32		nfiles = pg_atomic_read_u32(&parts->nfiles);
	uint64		rows = pg_atomic_read_u64(&parts->spilled_rows);
	GpuSortSpill *spill = sort->runs.spill;
	MemoryContext old;

	if (rows == 0)
		return;
	old = MemoryContextSwitchTo(spill->context);
	for (uint32 i = 0; i < nfiles; i++)
		gpusort_read_run_file(spill, gpusort_run_file_open(spill->files, i, sort->index_rows));
	MemoryContextSwitchTo(old);
	spill->rows += rows;
	sort->stats.rows += rows;
	sort->stats.joined_runs = true;
	sort->memory.kept_extents += pg_atomic_read_u32(&parts->kept_extents);
}

/*
 * Spills the rows that were put into the sort itself, if the sort has runs anyway, so that they are
 * not in the way of those of the parts.
 */
static void
spill_own_rows(GpuSort *sort)
{
	GpuSortHandover why;

	if (sort->tuplesort != NULL || sort->rows.count == 0 || !gpusort_has_runs(sort))
		return;
	why = gpusort_spill_rows(sort);
	if (why == GPUSORT_HANDOVER_NONE)
		return;
	if (sort->index_rows)
		sort->stats.handover = why;
	else
		gpusort_hand_over(sort, why);
}

void
gpusort_parts_join(GpuSortParts *parts, GpuSort *sort)
{
	Join		join = {sort, parts, pg_atomic_read_u32(&parts->nparts)};
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	(void) gpusort_show_enter(sort, GPUSORT_PHASE_JOIN);
	/*
	 * from now on extents that the sort gives back are counted in those of the parts; it has none
	 * of its own
	 */
	sort->memory.pool_account.extents = &parts->extents;
	join_runs(parts, sort);
	spill_own_rows(sort);
	if (sort->tuplesort != NULL)
	{
		gpusort_rewind_ranges(sort);
		gpusort_release_unneeded(sort);
		join_parts(&join);
		gpusort_move_to_tuplesort(sort);
	}
	else if (sort->rows.count == 0)
	{
		gpusort_rewind_ranges(sort);
		join_parts(&join);
	}
	else
	{
		set_rows_aside(sort);
		join_parts(&join);
		put_rows_again(sort);
	}
	gpusort_counters_merge(&sort->stats, &parts->stats, NULL);
	sort->stats.rows += parts->stats.dropped_rows;
	sort->stats.join_time = gpusort_elapsed(start);
}
