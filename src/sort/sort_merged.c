/*
 * sort_merged.c
 *		Two sorts whose rows gpusortd puts in one order; see sort.h.
 *
 * The planes of the job are made of extents of both sorts' planes, and of bitmaps of nulls.  Only
 * words that don't fill an extent are copied (gs_sides_number()).  The larger sort owns the job,
 * and the order goes to its workspace, which has room for it because the host engine would need
 * more.
 */
#include "postgres.h"

#include "elapsed.h"
#include "service/service.h"
#include "settings.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/service_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* A merge under way. */
typedef struct Merge
{
	GpuSort    *const *sorts;
	GpuSort    *owner;			/* the sort that has the job and its memory */
	gs_sides	sides;
	uint64		nrows;			/* rows of both sorts */
	unsigned	nplanes;
	GpuSortJobPlane planes[2][GS_MAX_PLANES];	/* planes of each sort */
} Merge;

/* ---------- whether ---------- */

static bool
columns_compare(const GpuSortSpec *const specs[2], const TupleDesc descs[2], int i)
{
	Oid			types[2];

	for (int side = 0; side < 2; side++)
		types[side] = TupleDescAttr(descs[side], specs[side]->attnos[i] - 1)->atttypid;
	return specs[0]->nulls_first[i] == specs[1]->nulls_first[i] &&
		specs[0]->collations[i] == specs[1]->collations[i] &&
		gpusort_first_words_compare(specs[0]->sortops[i], types[0], specs[1]->sortops[i], types[1],
									specs[0]->collations[i]);
}

bool
gpusort_may_merge(const GpuSortSpec *const specs[2], const TupleDesc descs[2])
{
	double		expected = specs[0]->expected_rows + specs[1]->expected_rows;
	bool		cuda;

	if (gpusort_verify || gpusort_engine == GPUSORT_ENGINE_HOST ||
		!gpusort_service_is_up(&cuda) ||
		(gpusort_engine == GPUSORT_ENGINE_AUTO && (!cuda || expected < gpusort_min_gpu_rows)) ||
		specs[0]->nkeys != specs[1]->nkeys)
		return false;
	for (int i = 0; i < specs[0]->nkeys; i++)
		if (!columns_compare(specs, descs, i))
			return false;
	return true;
}

/*
 * Returns whether the words of a column tell all about its values, and are the same words as those
 * of any other such column.
 */
static bool
words_tell(const GpuSortColumn *column)
{
	return !column->lazy && !column->facts.long_keys && column->base == 0;
}

/*
 * Returns whether a sort can be merged with another.  Its rows must be in the pool, since a merged
 * sort can be read through views only.
 */
static bool
sort_can_merge(const GpuSort *sort)
{
	if (sort->tuplesort != NULL || sort->optional || sort->parts.is_part || sort->index_rows ||
		sort->bound.rows > 0 || sort->key_rows.used || gpusort_range_is_private(sort->rows.store) ||
		gpusort_range_is_private(sort->rows.refs) || sort->order.performed ||
		sort->rows.count == 0 || gpusort_has_runs(sort) || needs_verification(sort))
		return false;
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (!words_tell(&sort->keys.columns[i]))
			return false;
	return true;
}

static bool
can_merge(GpuSort *const sorts[2])
{
	const GpuSortSpec *specs[2] = {&sorts[0]->spec, &sorts[1]->spec};
	TupleDesc	descs[2] = {sorts[0]->desc, sorts[1]->desc};
	uint64		rows = sorts[0]->rows.count + sorts[1]->rows.count;

	return gpusort_may_merge(specs, descs) && rows <= PG_UINT32_MAX &&
		sort_can_merge(sorts[0]) && sort_can_merge(sorts[1]) &&
		gpusort_sort_service_is_wanted(sorts[0], rows) &&
			gpusort_sort_service_is_wanted(sorts[1], rows);
}

/* ---------- memory ---------- */

static size_t
whole_extents(size_t bytes)
{
	return TYPEALIGN(EXTENT_BYTES, bytes);
}

/*
 * rest_bytes() returns the bytes that the rests of a plane's words take, those of both sorts that
 * don't fill an extent; nulls_bytes() what a bitmap of nulls takes.
 */
static size_t
rest_bytes(const Merge *merge)
{
	return whole_extents((merge->sides.rest[0] + merge->sides.rest[1]) * sizeof(uint64));
}

static size_t
nulls_bytes(const Merge *merge)
{
	return whole_extents(gpusort_bitmap_bytes(merge->nrows));
}

/*
 * Makes so many bytes of a range usable, in the pool only.  Returns false if there is no such
 * range, or no room.
 */
static bool
grow(GpuSortRange *range, size_t bytes)
{
	return range != NULL && !gpusort_range_is_private(range) &&
		gpusort_range_grow_in_pool(range, bytes, whole_extents(bytes));
}

static bool
acquire(GpuSort *sort, GpuSortRange **range, int role, size_t bytes)
{
	if (bytes > 0 && *range == NULL)
		*range = gpusort_acquire_range(sort, role);
	return bytes == 0 || grow(*range, bytes);
}

static bool
has_nulls(const Merge *merge, unsigned plane)
{
	return merge->planes[0][plane].nulls != NULL || merge->planes[1][plane].nulls != NULL;
}

static bool
any_nulls(const Merge *merge)
{
	for (unsigned i = 0; i < merge->nplanes; i++)
		if (has_nulls(merge, i))
			return true;
	return false;
}

/* Acquires memory for what the job is told, and for what it finds. */
static bool
take_memory(Merge *merge)
{
	GpuSort    *owner = merge->owner;
	size_t		bitmaps = any_nulls(merge) ? nulls_bytes(merge) * merge->nplanes : 0;

	return grow(owner->order.workspace, merge->nrows * sizeof(uint32)) &&
		acquire(owner, &owner->order.equal, GPUSORT_RANGE_EQUAL,
				gpusort_bitmap_bytes(merge->nrows)) &&
		acquire(owner, &owner->device.merge.rest, GPUSORT_RANGE_SORTED_ROWS,
				rest_bytes(merge) * merge->nplanes) &&
		acquire(owner, &owner->device.merge.nulls, GPUSORT_RANGE_SORTED_REFS, bitmaps);
}

/* ---------- planes ---------- */

/*
 * Copies the words of a plane that don't fill an extent, first those of one sort, then the other's.
 */
static void
copy_rest(const Merge *merge, unsigned plane)
{
	const gs_sides *sides = &merge->sides;
	uint64	   *to = (uint64 *) (merge->owner->device.merge.rest->base + plane * rest_bytes(merge));

	for (int side = 0; side < 2; side++)
	{
		const uint64 *from = RANGE_U64(merge->planes[side][plane].words);

		memcpy(to, from + sides->full[side], sides->rest[side] * sizeof(uint64));
		to += sides->rest[side];
	}
}

static void
copy_bits(uint64 *to, uint64 at, const uint64 *from, uint64 first, uint64 count)
{
	for (uint64 i = 0; i < count; i++)
		if ((from[(first + i) / 64] >> ((first + i) % 64) & 1) != 0)
			to[(at + i) / 64] |= UINT64CONST(1) << ((at + i) % 64);
}

/* Makes a plane's bitmap of nulls, in which the rows of both sorts are numbered as in the job. */
static void
join_nulls(const Merge *merge, unsigned plane)
{
	const gs_sides *sides = &merge->sides;
	char	   *nulls = merge->owner->device.merge.nulls->base;
	uint64	   *to = (uint64 *) (nulls + plane * nulls_bytes(merge));
	uint64		full = 0;
	uint64		rest = sides->full[0] + sides->full[1];

	memset(to, 0, gpusort_bitmap_bytes(merge->nrows));
	for (int side = 0; side < 2; side++)
	{
		const GpuSortRange *nulls = merge->planes[side][plane].nulls;

		if (nulls != NULL)
		{
			memcpy(to + full / 64, RANGE_U64(nulls), sides->full[side] / 8);
			copy_bits(to, rest, RANGE_U64(nulls), sides->full[side], sides->rest[side]);
		}
		full += sides->full[side];
		rest += sides->rest[side];
	}
}

/* Tells the job about a plane.  Returns false if some of the plane is not in the pool. */
static bool
list_plane(const Merge *merge, unsigned plane)
{
	GpuSort    *owner = merge->owner;
	GpuSortJob *job = &owner->device.job;
	uint32		extents = rest_bytes(merge) / EXTENT_BYTES;

	for (int side = 0; side < 2; side++)
		if (!gpusort_job_add_words(job, plane, merge->planes[side][plane].words, 0,
								   merge->sides.full[side] / GSD_EXTENT_WORDS))
			return false;
	if (extents > 0)
	{
		copy_rest(merge, plane);
		if (!gpusort_job_add_words(job, plane, owner->device.merge.rest, plane * extents, extents))
			return false;
	}
	if (!has_nulls(merge, plane))
		return true;
	extents = nulls_bytes(merge) / EXTENT_BYTES;
	join_nulls(merge, plane);
	return gpusort_job_set_nulls(job, plane, owner->device.merge.nulls, plane * extents, extents);
}

/* ---------- the job ---------- */

/* Opens and runs the job.  Returns NULL, or why gpusortd does not do it. */
static const char *
run_job(Merge *merge)
{
	GpuSort    *owner = merge->owner;
	GpuSortJobPlane told[GS_MAX_PLANES];
	const char *why = gpusort_sort_service_open(owner, merge->nplanes, merge->nrows);

	for (unsigned i = 0; i < merge->nplanes && why == NULL; i++)
	{
		told[i] = (GpuSortJobPlane) {
			.null_order = owner->keys.planes[i].null_order, .bytes = merge->planes[0][i].bytes
		};
		if (!list_plane(merge, i))
			why = GPUSORT_WHY_OUTSIDE;
	}
	if (why != NULL)
		return why;
	INSTR_TIME_SET_CURRENT(owner->device.run_at);
	return gpusort_job_run(&owner->device.job, merge->nrows, merge->nplanes, told,
						   owner->order.workspace, owner->order.equal);
}

/* Waits for the order of all rows.  Returns NULL, or why gpusortd has not found it. */
static const char *
wait_for_order(Merge *merge)
{
	const char *why;
	uint64		ready = 0;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	why = gpusort_job_wait(&merge->owner->device.job, merge->nrows, &ready);
	gpusort_add_elapsed(&merge->owner->stats.wait_time, start);
	return why;
}

static void
take_result(Merge *merge, instr_time took)
{
	const gsd_result *result = gpusort_job_result(&merge->owner->device.job);

	for (int side = 0; side < 2; side++)
	{
		GpuSort    *sort = merge->sorts[side];

		gpusort_note_result(sort, result);
		sort->device.merge.merged = true;
		sort->device.merge.holds_order = sort == merge->owner;
		sort->device.merge.any_nulls = any_nulls(merge);
		sort->device.merge.sides = merge->sides;
		sort->order.ids = sort->device.merge.holds_order ? RANGE_U32(sort->order.workspace) : NULL;
		sort->order.ready = sort->rows.count;
		INSTR_TIME_ADD(sort->stats.sort_time, took);
	}
	gpusort_sort_service_end(merge->owner);
	gpusort_release_merge(merge->owner);
}

/* Notes in both sorts that gpusortd was asked to merge them and did not, and why. */
static void
fall_back(Merge *merge, const char *why)
{
	GpuSort    *owner = merge->owner;

	gpusort_sort_service_fall_back(owner, why, true);
	for (int side = 0; side < 2; side++)
	{
		GpuSort    *sort = merge->sorts[side];

		sort->device.merge.failed = true;
		if (sort == owner)
			continue;
		strlcpy(sort->stats.fallback, owner->stats.fallback, sizeof(sort->stats.fallback));
	}
}

static void
begin_merge(Merge *merge)
{
	GpuSort    *const *sorts = merge->sorts;

	merge->owner = sorts[sorts[0]->rows.count >= sorts[1]->rows.count ? 0 : 1];
	merge->sides = gs_sides_number(sorts[0]->rows.count, sorts[1]->rows.count, GSD_EXTENT_WORDS);
	merge->nrows = gs_sides_rows(&merge->sides);
	for (int side = 0; side < 2; side++)
	{
		/* what was fed to gpusortd ahead, by each sort, is of no use to a job for both */
		gpusort_sort_service_end(sorts[side]);
		gpusort_choose_planes(&sorts[side]->keys, &sorts[side]->rows);
		merge->nplanes = gpusort_list_planes(&sorts[side]->keys, merge->planes[side]);
		Assert(merge->nplanes == sorts[side]->keys.nplanes && sorts[side]->keys.refine_column < 0);
	}
}

bool
gpusort_merge_rows(GpuSort *const sorts[2])
{
	Merge	   *merge;
	const char *why = GPUSORT_WHY_NO_ROOM;
	bool		ran = false;
	instr_time	start;

	if (!can_merge(sorts))
		return false;
	INSTR_TIME_SET_CURRENT(start);
	merge = palloc0(sizeof(Merge));
	merge->sorts = sorts;
	begin_merge(merge);
	if (gpusort_sort_service_holds_memory(sorts[0]) || gpusort_sort_service_holds_memory(sorts[1]))
	{
		/* gpusortd has not let go of what it was fed, and is not to be given more */
		why = GPUSORT_WHY_NOT_TAKEN;
		sorts[0]->device.merge.failed = sorts[1]->device.merge.failed = true;
	}
	else if (take_memory(merge))
	{
		why = run_job(merge);
		ran = why == NULL;
		if (ran)
			why = wait_for_order(merge);
	}
	if (why == NULL)
		take_result(merge, gpusort_elapsed(start));
	else
	{
		if (ran)
			fall_back(merge, why);
		gpusort_sort_service_end(merge->owner);
		gpusort_release_merge(merge->owner);
	}
	pfree(merge);
	return why == NULL;
}
