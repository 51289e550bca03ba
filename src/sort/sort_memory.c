/*
 * sort_memory.c
 *		What memory a sort has, and how much more it may take.
 *
 * A sort lives in ranges (memory_range.h): rows, row references, a plane for each
 * word of each sort column, and the engine's workspace.  Each has address space
 * for all that the sort may take, so that whichever grows can.
 *
 * Two limits hold.  Extents of the pool: the share that gpusort.pool_quota grants
 * to one sort, and what is free.  Private memory: work_mem * hash_mem_multiplier,
 * in an index build maintenance_work_mem.
 * A range grows in the pool first, so what counts against the private limit is
 * that part of each range that lies behind its extents:
 *
 *		sum over ranges of max(0, bytes in use - bytes of extents)
 *
 * The workspace is touched only when all rows are in, and must not be missing then.
 * So its extents are taken along with those of the planes, and the part that they
 * do not cover counts from the first row on.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "memory/pool.h"
#include "sort/sort_internal.h"
#include "sort/sort_limits.h"

/*
 * Planes grow by doubling, within these numbers of rows, or by what the limit
 * leaves, but not in too small steps.
 */
#define MIN_GROW_ROWS	256
#define MIN_STEP_ROWS	16
#define MAX_GROW_ROWS	(1 << 20)

/* Touched between two looks for interrupts: 2 to 40 ms if it is fresh. */
#define GROW_STEP_BYTES	((size_t) 16 << 20)

void
gpusort_begin_memory(GpuSort *sort, size_t limit_bytes)
{
	sort->memory.limit_bytes = gpusort_possible_bytes(limit_bytes);
	sort->memory.pool_share.owner = gsd_owner(MyProcPid, 0);
	sort->memory.pool_share.max_extents = gpusort_pool_quota_extents();
	pg_atomic_init_u32(&sort->memory.pool_share.own_extents, 0);
	sort->memory.pool_share.extents = &sort->memory.pool_share.own_extents;
	sort->memory.reserve_bytes = Min(sort->memory.limit_bytes + gpusort_pool_limit(),
									 ROW_STORE_MAX_BYTES - 1);
	for (sort->rows.places.unit = MAXIMUM_ALIGNOF;
		 sort->memory.reserve_bytes / sort->rows.places.unit > PG_UINT32_MAX;)
		sort->rows.places.unit *= 2;
	sort->rows.shift = pg_leftmost_one_pos64(sort->rows.places.unit);
}

/* A range that can grow to the limit; NULL if there is no address space. */
GpuSortRange *
gpusort_acquire_range(GpuSort *sort, int role)
{
	return gpusort_range_acquire(role, sort->memory.reserve_bytes, &sort->memory.pool_share);
}

static size_t
bitmap_bytes(uint64 rows)
{
	return (rows + 63) / 64 * sizeof(uint64);
}

static bool
visit_range(GpuSort *sort, GpuSortRange **range, size_t bytes, GpuSortRangeVisitor visit)
{
	return *range == NULL || visit(sort, range, bytes);
}

/* Visit the planes of all columns; stops when a visitor says false. */
static bool
visit_columns(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		if (!visit_range(sort, &column->prefix, rows * sizeof(uint64), visit) ||
			!visit_range(sort, &column->refs, rows * sizeof(uint64), visit) ||
			!visit_range(sort, &column->nulls, bitmap_bytes(rows), visit))
			return false;
		for (int w = 0; w < column->nwords; w++)
			if (!visit_range(sort, &column->words[w], rows * sizeof(uint64), visit))
				return false;
	}
	return true;
}

/* Visit all that has something for each row while rows are collected. */
static bool
visit_planes(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit)
{
	return visit_range(sort, &sort->rows.refs, rows * sizeof(uint32), visit) &&
		visit_columns(sort, rows, visit);
}

/* Visit what is needed when all rows are in. */
static bool
visit_workspace(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit)
{
	return visit_range(sort, &sort->order.workspace, gs_sort_workspace_bytes(rows), visit) &&
		visit_range(sort, &sort->order.refined, rows * sizeof(uint32), visit) &&
		visit_range(sort, &sort->order.equal, bitmap_bytes(rows), visit);
}

bool
gpusort_visit_memory(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit)
{
	return visit_range(sort, &sort->rows.store, sort->rows.used, visit) &&
		visit_planes(sort, rows, visit) &&
		visit_workspace(sort, rows, visit);
}

static bool
acquire_planes(GpuSort *sort, int i)
{
	GpuSortColumn *column = &sort->keys.columns[i];

	if (column->bytes != GPUSORT_BYTES_NONE)
	{
		column->prefix = gpusort_acquire_range(sort, GPUSORT_PLANE_ROLE(i, GPUSORT_PREFIX_ROLE));
		column->refs = gpusort_acquire_range(sort, GPUSORT_PLANE_ROLE(i, GPUSORT_REFS_ROLE));
		if (column->prefix == NULL || column->refs == NULL)
			return false;
	}
	for (int w = 0; w < column->nwords; w++)
	{
		column->words[w] = gpusort_acquire_range(sort, GPUSORT_PLANE_ROLE(i, GPUSORT_WORDS_ROLE + w));
		if (column->words[w] == NULL)
			return false;
	}
	return true;
}

bool
gpusort_acquire_memory(GpuSort *sort)
{
	sort->rows.store = gpusort_acquire_range(sort, GPUSORT_RANGE_ROWS);
	sort->rows.refs = gpusort_acquire_range(sort, GPUSORT_RANGE_ROW_REFS);
	sort->order.workspace = gpusort_acquire_range(sort, GPUSORT_RANGE_WORKSPACE);
	if (sort->rows.store == NULL || sort->rows.refs == NULL || sort->order.workspace == NULL)
		return false;
	sort->rows.places.base = sort->rows.store->base;
	sort->rows.places.refs = RANGE_U32(sort->rows.refs);
	if (sort->keys.any_bytes || sort->index_rows)
	{
		sort->order.refined = gpusort_acquire_range(sort, GPUSORT_RANGE_REFINED);
		sort->order.equal = gpusort_acquire_range(sort, GPUSORT_RANGE_EQUAL);
		if (sort->order.refined == NULL || sort->order.equal == NULL)
			return false;
	}
	for (int i = 0; i < sort->keys.ncolumns; i++)
		if (!acquire_planes(sort, i))
			return false;
	return true;
}

static bool
release_range(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	gpusort_range_release(*range);
	*range = NULL;
	return true;
}

void
gpusort_release_planes(GpuSort *sort)
{
	visit_workspace(sort, 0, release_range);
	visit_planes(sort, 0, release_range);
}

void
gpusort_release_nulls(GpuSort *sort)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
		visit_range(sort, &sort->keys.columns[i].nulls, 0, release_range);
}

void
gpusort_release_rows_aside(GpuSort *sort)
{
	visit_range(sort, &sort->aside.store, 0, release_range);
	visit_range(sort, &sort->aside.refs, 0, release_range);
}

void
gpusort_release_memory(GpuSort *sort)
{
	/* the dearest first, while there is room in gpusort.keep_memory */
	visit_range(sort, &sort->rows.store, 0, release_range);
	gpusort_release_rows_aside(sort);
	gpusort_reorder_forget(sort);
	gpusort_release_planes(sort);
}

static bool
rewind_range(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	gpusort_range_rewind(*range);
	return true;
}

void
gpusort_rewind_memory(GpuSort *sort)
{
	visit_range(sort, &sort->rows.store, 0, rewind_range);
	visit_workspace(sort, 0, rewind_range);
	visit_planes(sort, 0, rewind_range);
	sort->memory.capacity = 0;
	sort->rows.end = 0;
}

static bool
discard_range(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	gpusort_range_discard(*range, 0, (*range)->usable);
	return true;
}

void
gpusort_discard_planes(GpuSort *sort)
{
	visit_workspace(sort, 0, discard_range);
	visit_columns(sort, 0, discard_range);
}

static bool
reserve_range(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	gpusort_range_reserve(*range, bytes);
	return true;
}

static bool
grow_range(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	return gpusort_range_grow(*range, bytes);
}

static size_t
bytes_behind_extents(const GpuSortRange *range, size_t bytes)
{
	return bytes - Min(bytes, gpusort_range_pool_bytes(range));
}

static bool
add_private_bytes(GpuSort *sort, GpuSortRange **range, size_t bytes)
{
	sort->memory.planes_private += bytes_behind_extents(*range, bytes);
	return true;
}

/*
 * Private memory that planes and workspace take for so many rows.  The tables in
 * front of the engine's workspace are left out: they would be all of a small limit.
 */
static size_t
private_bytes_of_planes(GpuSort *sort, uint64 rows)
{
	sort->memory.planes_private = 0;
	visit_planes(sort, rows, add_private_bytes);
	visit_workspace(sort, rows, add_private_bytes);
	if (sort->member.is_part)
		return sort->memory.planes_private;
	return sort->memory.planes_private - Min(sort->memory.planes_private, gs_sort_workspace_bytes(0));
}

/* Bytes of extents that the sort may still take, if nobody else does first. */
static size_t
pool_bytes_left(const GpuSort *sort)
{
	uint32		taken = pg_atomic_read_u32(sort->memory.pool_share.extents);
	uint32		left = sort->memory.pool_share.max_extents - Min(taken, sort->memory.pool_share.max_extents);

	if (left == 0)
		return 0;
	return Min(left, gpusort_pool->header->free_extents) * (size_t) GSD_EXTENT_BYTES;
}

/*
 * May the planes have room for so many rows?  Only if those rows, of the average
 * length so far, will fit as well.  Takes what extents there are.
 */
static bool
rows_fit(GpuSort *sort, uint64 rows)
{
	size_t		row_bytes = sort->rows.count > 0 ? sort->rows.used / sort->rows.count : 0;
	size_t		rows_private;
	size_t		planes_private;

	visit_planes(sort, rows, reserve_range);
	visit_workspace(sort, rows, reserve_range);
	planes_private = private_bytes_of_planes(sort, rows);
	rows_private = bytes_behind_extents(sort->rows.store,
										sort->rows.used + (rows - sort->memory.capacity) * row_bytes);
	if (!gpusort_range_is_private(sort->rows.store))
		rows_private -= Min(rows_private, pool_bytes_left(sort));
	return planes_private <= sort->memory.limit_bytes &&
		rows_private <= sort->memory.limit_bytes - planes_private;
}

bool
gpusort_grow_planes(GpuSort *sort)
{
	uint64		step = Min(Max(sort->memory.capacity, MIN_GROW_ROWS), MAX_GROW_ROWS);

	while (sort->memory.capacity + step > PG_UINT32_MAX || !rows_fit(sort, sort->memory.capacity + step))
	{
		step /= 2;
		if (step < MIN_STEP_ROWS)
			return false;
	}
	if (sort->member.is_part && !gpusort_parts_claim_rows(sort->member.parts, step))
		return false;
	if (!visit_planes(sort, sort->memory.capacity + step, grow_range))
		return false;
	sort->memory.capacity += step;
	gpusort_set_rows_end(sort);
	return true;
}

bool
gpusort_grow_planes_to(GpuSort *sort, uint64 rows)
{
	visit_planes(sort, rows, reserve_range);
	if (rows > sort->memory.capacity && !visit_planes(sort, rows, grow_range))
		return false;
	sort->memory.capacity = rows;
	return true;
}

void
gpusort_set_rows_end(GpuSort *sort)
{
	size_t		planes = private_bytes_of_planes(sort, sort->memory.capacity);
	size_t		allowed = sort->memory.limit_bytes > planes ? sort->memory.limit_bytes - planes : 0;

	sort->rows.end = Min(sort->rows.store->usable, gpusort_range_pool_bytes(sort->rows.store) + allowed);
}

bool
gpusort_grow_rows(GpuSort *sort, size_t end)
{
	if (!gpusort_range_grow(sort->rows.store, end))
		return false;
	gpusort_set_rows_end(sort);
	return end <= sort->rows.end;
}

GpuSortRange *
gpusort_acquire_bitmap(GpuSort *sort, int role)
{
	GpuSortRange *range = gpusort_acquire_range(sort, role);

	if (range == NULL)
		return NULL;
	if (!gpusort_range_grow(range, bitmap_bytes(sort->memory.capacity)) ||
		(sort->member.is_part && gpusort_range_is_private(range)))
	{
		gpusort_range_release(range);
		return NULL;
	}
	return range;
}

bool
gpusort_grow_in_steps(GpuSort *sort, GpuSortRange *range, size_t bytes)
{
	while (range->usable < bytes)
	{
		size_t		from = range->usable;
		size_t		to = bytes - from < 2 * GROW_STEP_BYTES ? bytes : from + GROW_STEP_BYTES;

		CHECK_FOR_INTERRUPTS();
		if (!gpusort_range_grow(range, to))
			return false;
		gs_progress_advance(sort->progress, range->usable - from);
	}
	return true;
}

bool
gpusort_grow_workspace(GpuSort *sort)
{
	uint64		rows = sort->rows.count;
	size_t		workspace_bytes = gs_sort_workspace_bytes(rows);
	size_t		refined_bytes = needs_refinement(sort) ? rows * sizeof(uint32) : 0;
	size_t		fresh_bytes = gpusort_range_fresh_bytes(sort->order.workspace);
	gs_progress outer;
	bool		grown;

	if (refined_bytes > 0)
		fresh_bytes += gpusort_range_fresh_bytes(sort->order.refined);
	outer = gpusort_enter_growth(sort, workspace_bytes + refined_bytes, fresh_bytes);
	grown = gpusort_grow_in_steps(sort, sort->order.workspace, workspace_bytes) &&
		(refined_bytes == 0 || gpusort_grow_in_steps(sort, sort->order.refined, refined_bytes));
	gs_progress_leave(sort->progress, &outer);
	return grown &&
		(!needs_equal_rows(sort) || gpusort_range_grow(sort->order.equal, bitmap_bytes(rows)));
}

void
gpusort_note_memory(GpuSort *sort)
{
	sort->stats.memory_bytes = private_bytes_of_planes(sort, sort->rows.count) +
		bytes_behind_extents(sort->rows.store, sort->rows.used);
	sort->stats.pool_bytes = pg_atomic_read_u32(sort->memory.pool_share.extents) * GSD_EXTENT_BYTES;
}
