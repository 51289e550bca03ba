/*
 * sort_memory.c
 *		How much memory a sort takes, and how much more it may take; see memory_private.h.
 *
 * A range grows in the pool first.  So what counts against the limit of private memory is the part
 * of each range that lies behind its extents:
 *
 *		sum over ranges of max(0, bytes in use - bytes of extents)
 *
 * The workspace is touched only when all rows are in, and must not be missing then.  So its extents
 * are taken along with those of the planes, and the part of it that they do not cover counts from
 * the first row on.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "engine/host/gs_sort.h"
#include "memory/pool.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/sort.h"
#include "sort/state_private.h"

/*
 * The number of rows that planes have room for doubles, within these limits, or grows by what the
 * memory limits leave, but not in smaller steps than MIN_STEP_ROWS.
 */
#define MIN_GROW_ROWS	256
#define MIN_STEP_ROWS	16
#define MAX_GROW_ROWS	(1 << 20)

/*
 * How often a part that was refused memory is refused more before it asks again.  Asking takes some
 * microseconds, more than all else that is done for a row.
 */
#define REFUSALS		1000

/*
 * Bytes that are touched between two checks for interrupts, which takes 2 to 40 ms if they are
 * fresh.
 */
#define GROW_STEP_BYTES	((size_t) 16 << 20)

/*
 * Encoders may hold a quarter of the limit of private memory, and where that is very little, enough
 * for strings of some hundred bytes.
 */
#define ENCODERS_PART		4
#define MIN_ENCODERS_BYTES	((size_t) 32 << 10)

/*
 * Bytes set aside for keys, which are made for one run of equals at a time, most of which are of a
 * few rows, and for the encoders that make them.  Of a small limit only a part is set aside.
 */
#define SPARE_BYTES				((size_t) 128 << 10)
#define SPARE_PART				16
#define ENCODERS_SPARE_PART		8

size_t
gpusort_encoders_limit(size_t limit_bytes)
{
	/* a part takes no private memory for rows, but its process may use some for encoders */
	if (limit_bytes == 0)
		limit_bytes = gpusort_memory_limit();
	return Max(gpusort_possible_bytes(limit_bytes) / ENCODERS_PART, MIN_ENCODERS_BYTES);
}

void
gpusort_begin_memory(GpuSort *sort, size_t limit_bytes)
{
	GpuSortMemory *memory = &sort->memory;
	size_t		unit = MAXIMUM_ALIGNOF;

	memory->limit_bytes = memory->first_limit_bytes = gpusort_possible_bytes(limit_bytes);
	memory->planned_rows = sort->spec.expected_rows;
	gpusort_set_memory_aside(sort, true);
	gpusort_pool_open(&memory->pool_account, gpusort_pool_quota_extents());
	memory->reserve_bytes = Min(memory->limit_bytes + gpusort_sort_pool_limit(),
								ROW_STORE_MAX_BYTES - 1);
	while (memory->reserve_bytes / unit > PG_UINT32_MAX)
		unit *= 2;
	set_row_unit(&sort->rows, unit);
}

static bool
reserve_range(GpuSortRange **range, size_t bytes, void *arg)
{
	gpusort_range_reserve(*range, bytes);
	return true;
}

static bool
grow_range(GpuSortRange **range, size_t bytes, void *arg)
{
	return gpusort_range_grow(*range, bytes);
}

static size_t
bytes_behind_extents(const GpuSortRange *range, size_t bytes)
{
	return bytes - Min(bytes, gpusort_range_pool_bytes(range));
}

static bool
add_private_bytes(GpuSortRange **range, size_t bytes, void *arg)
{
	*(size_t *) arg += bytes_behind_extents(*range, bytes);
	return true;
}

/*
 * Returns how much private memory everything but the row store takes for `rows` rows.  The tables
 * in front of the engine's workspace are left out: they would use up a small limit.
 */
static size_t
private_bytes_beside_rows(GpuSort *sort, uint64 rows)
{
	size_t		bytes = 0;

	gpusort_visit_planes(sort, rows, add_private_bytes, &bytes);
	gpusort_visit_workspace(sort, rows, add_private_bytes, &bytes);
	if (sort->parts.is_part)
		return bytes;
	return bytes - Min(bytes, gs_sort_workspace_bytes(0)) + sort->memory.other_private_bytes;
}

/* Returns the same, together with what encoders may yet take. */
static size_t
private_bytes_aside(GpuSort *sort, uint64 rows)
{
	const GpuSortMemory *memory = &sort->memory;
	size_t		held = memory->other_private_bytes - memory->charged_bytes;

	return private_bytes_beside_rows(sort, rows) +
		memory->encoders_bytes - Min(held, memory->encoders_bytes);
}

size_t
gpusort_private_bytes(GpuSort *sort)
{
	return private_bytes_beside_rows(sort, sort->rows.count) +
		bytes_behind_extents(sort->rows.store, sort->rows.used);
}

/* Returns how many bytes of extents the sort may take now. */
static size_t
pool_bytes_left(const GpuSortPoolAccount *account)
{
	return gpusort_pool_room(account) * (size_t) GSD_EXTENT_BYTES;
}

/*
 * Returns whether the planes may have room for `rows` rows.  They may only if those rows, of the
 * average length so far, will fit as well.  Takes extents for the planes and the workspace, as far
 * as there are any.
 */
static bool
rows_fit(GpuSort *sort, uint64 rows)
{
	const GpuSortMemory *memory = &sort->memory;
	size_t		more_bytes = (rows - memory->capacity) * average_row_bytes(&sort->rows);
	size_t		rows_private;
	size_t		beside_private;

	gpusort_visit_planes(sort, rows, reserve_range, NULL);
	gpusort_visit_workspace(sort, rows, reserve_range, NULL);
	beside_private = private_bytes_aside(sort, rows);
	rows_private = bytes_behind_extents(sort->rows.store, sort->rows.used + more_bytes);
	if (!gpusort_range_is_private(sort->rows.store))
		rows_private -= Min(rows_private, pool_bytes_left(&memory->pool_account));
	return beside_private <= memory->limit_bytes &&
		rows_private <= memory->limit_bytes - beside_private;
}

/*
 * Counts that a part's planes have room for so many more rows.  Returns false, without counting
 * them, if all parts together would have too many.
 */
static bool
claim_rows(pg_atomic_uint64 *claimed, uint64 rows)
{
	if (pg_atomic_fetch_add_u64(claimed, rows) + rows <= PG_UINT32_MAX)
		return true;
	pg_atomic_fetch_sub_u64(claimed, rows);
	return false;
}

/* What a part has of the pool. */
typedef struct OwnedExtents
{
	uint32		extents;
	uint32		ranges;			/* ranges that have at least one extent */
} OwnedExtents;

static bool
add_extents(GpuSortRange **range, size_t bytes, void *arg)
{
	OwnedExtents *owned = arg;

	owned->extents += (*range)->nowned;
	owned->ranges += (*range)->nowned > 0;
	return true;
}

/*
 * Returns whether a part has more than its share while other parts have not enough.  One extent for
 * each range is not too much: with fewer the part takes no row, and the few rows that fit into
 * those should not become runs.
 */
static bool
is_greedy(GpuSort *part)
{
	const GpuSortMemory *memory = &part->memory;
	OwnedExtents owned = {0};

	if (memory->shares_enforced == NULL || pg_atomic_read_u32(memory->shares_enforced) == 0)
		return false;
	gpusort_visit_ranges(part, 0, add_extents, &owned);
	return owned.extents + memory->kept_extents > memory->shared_extents / gpusort_shares(memory) &&
		owned.extents > owned.ranges;
}

void
gpusort_share_memory(GpuSort *part)
{
	pg_atomic_write_u32(part->memory.shares_enforced, 1);
	pg_atomic_fetch_sub_u64(part->memory.claimed_rows, part->memory.capacity);
	gpusort_rewind_ranges(part);
}

/* Makes room for more rows in every plane, or returns false. */
static bool
grow_planes(GpuSort *sort)
{
	GpuSortMemory *memory = &sort->memory;
	uint64		step = Min(Max(memory->capacity, MIN_GROW_ROWS), MAX_GROW_ROWS);

	if (is_greedy(sort))
		return false;
	gpusort_spill_plan(sort, memory->capacity + step);
	/* no more room than for the rows that will be trimmed */
	if (memory->capacity < sort->bound.trim_at)
		step = Min(step, sort->bound.trim_at - memory->capacity);
	if (memory->capacity < memory->expected_rows)
		step = Min(step, memory->expected_rows - memory->capacity);
	while (memory->capacity + step > PG_UINT32_MAX ||
		   gpusort_exceeds_buffer(sort, memory->capacity + step,
								  (memory->capacity + step) * average_row_bytes(&sort->rows)) ||
		   !rows_fit(sort, memory->capacity + step))
	{
		step /= 2;
		if (step < MIN_STEP_ROWS)
			return false;
	}
	if (memory->claimed_rows != NULL && !claim_rows(memory->claimed_rows, step))
		return false;
	if (!gpusort_visit_planes(sort, memory->capacity + step, grow_range, NULL))
		return false;
	memory->capacity += step;
	gpusort_set_rows_end(sort);
	gpusort_show_memory(sort);
	return true;
}

/*
 * A part that can't be spilled is asked to take each of the rows that follow, which is twice for a
 * row on a page.  Returns whether it is refused memory for this one without asking for any.
 */
static bool
is_refused_again(GpuSort *sort)
{
	if (sort->memory.refusals == 0)
		return false;
	sort->memory.refusals--;
	return true;
}

/* Notes that a part was refused memory, unless it has got some; returns whether it has. */
static bool
note_answer(GpuSort *sort, bool granted)
{
	if (!granted && sort->parts.is_part)
		sort->memory.refusals = REFUSALS;
	return granted;
}

bool
gpusort_grow_planes(GpuSort *sort)
{
	return !is_refused_again(sort) && note_answer(sort, grow_planes(sort));
}

bool
gpusort_grow_planes_to(GpuSort *sort, uint64 rows)
{
	gpusort_visit_planes(sort, rows, reserve_range, NULL);
	if (rows > sort->memory.capacity && !gpusort_visit_planes(sort, rows, grow_range, NULL))
		return false;
	sort->memory.capacity = rows;
	return true;
}

void
gpusort_set_rows_end(GpuSort *sort)
{
	size_t		beside = private_bytes_aside(sort, sort->memory.capacity);
	size_t		limit = sort->memory.limit_bytes;
	size_t		allowed = limit > beside ? limit - beside : 0;
	const GpuSortRange *store = sort->rows.store;

	sort->rows.end = Min(store->usable, gpusort_range_pool_bytes(store) + allowed);
	sort->rows.end -= Min(sort->memory.spare_bytes, sort->rows.end);
}

size_t
gpusort_possible_rows_end(GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;
	const GpuSortRange *store = sort->rows.store;
	size_t		beside = private_bytes_aside(sort, memory->capacity);
	size_t		end = gpusort_range_pool_bytes(store);

	if (!gpusort_range_is_private(store))
		end += pool_bytes_left(&memory->pool_account);
	/* rows that a team, or readers of a shared sort, may map must not leave the pool */
	if ((sort->parts.joined == NULL && sort->team.team == NULL) || gpusort_range_is_private(store))
		end += memory->limit_bytes - Min(beside, memory->limit_bytes);
	return Max(sort->rows.end, gpusort_exceeds_buffer(sort, memory->capacity, end) ? 0 : end);
}

bool
gpusort_note_encoders(GpuSort *sort)
{
	GpuSortMemory *memory = &sort->memory;

	memory->other_private_bytes = gpusort_key_memory_bytes(&sort->keys.memory) +
		memory->charged_bytes;
	if (sort->parts.is_part)
		return true;
	gpusort_set_rows_end(sort);
	return gpusort_private_bytes(sort) <= memory->limit_bytes;
}

void
gpusort_forget_encoders(GpuSort *sort)
{
	gpusort_forget_keys(&sort->keys);
	sort->memory.other_private_bytes = sort->memory.charged_bytes;
}

static bool
grow_rows(GpuSort *sort, size_t end)
{
	if (gpusort_exceeds_buffer(sort, sort->memory.capacity, end) ||
		!gpusort_range_grow(sort->rows.store, end + sort->memory.spare_bytes))
		return false;
	gpusort_set_rows_end(sort);
	gpusort_show_memory(sort);
	return end <= sort->rows.end;
}

bool
gpusort_grow_rows(GpuSort *sort, size_t end)
{
	return !is_refused_again(sort) && note_answer(sort, grow_rows(sort, end));
}

/* Returns whether the refinement makes keys of whole strings. */
static bool
any_lazy_column(const GpuSortKeys *keys)
{
	for (int i = 0; i < keys->ncolumns; i++)
		if (keys->columns[i].lazy)
			return true;
	return false;
}

/*
 * Sets how much encoders may hold: while rows come in (aside), what their limit says, of which a
 * part is theirs in any case; when keys are made, no more than half of what rows have left.
 */
static void
limit_encoders(GpuSort *sort, bool aside)
{
	GpuSortMemory *memory = &sort->memory;
	size_t		limit = memory->limit_bytes;
	size_t		most = gpusort_encoders_limit(limit);

	/* what a part's process uses for encoders is no memory of the part */
	if (sort->parts.is_part)
		return;
	memory->encoders_bytes = Min(limit / ENCODERS_SPARE_PART, SPARE_BYTES);
	if (!aside)
	{
		size_t		used = gpusort_private_bytes(sort);
		size_t		held = memory->other_private_bytes - memory->charged_bytes;

		most = Min(most, held + Max((limit - Min(used, limit)) / 2, memory->encoders_bytes));
		memory->encoders_bytes = most;
	}
	sort->keys.memory.limit_bytes = most;
}

void
gpusort_set_memory_aside(GpuSort *sort, bool aside)
{
	GpuSortMemory *memory = &sort->memory;

	if (!any_lazy_column(&sort->keys))
		return;
	limit_encoders(sort, aside);
	/* keys are not refused because rows were, nor rows because keys were */
	memory->refusals = 0;
	memory->spare_bytes = !aside ? 0
		: memory->limit_bytes == 0 ? SPARE_BYTES
		: Min(memory->limit_bytes / SPARE_PART, SPARE_BYTES);
	if (sort->rows.store != NULL)
		gpusort_set_rows_end(sort);
}

GpuSortRange *
gpusort_acquire_bitmap(GpuSort *sort, int role)
{
	GpuSortRange *range = gpusort_acquire_range(sort, role);

	if (range == NULL)
		return NULL;
	if (!gpusort_range_grow(range, gpusort_bitmap_bytes(sort->memory.capacity)))
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
		(!needs_equal_rows(sort) ||
		 gpusort_range_grow(sort->order.equal, gpusort_bitmap_bytes(rows)));
}

bool
gpusort_grow_refined(GpuSort *sort)
{
	size_t		bytes = sort->rows.count * sizeof(uint32);
	gs_progress outer = gpusort_enter_growth(sort, bytes,
											 gpusort_range_fresh_bytes(sort->order.refined));
	bool		grown = gpusort_grow_in_steps(sort, sort->order.refined, bytes);

	gs_progress_leave(sort->progress, &outer);
	return grown;
}

static void
set_limit(GpuSort *sort, size_t limit_bytes)
{
	sort->memory.limit_bytes = limit_bytes;
	sort->keys.memory.limit_bytes = gpusort_encoders_limit(limit_bytes);
}

void
gpusort_raise_limit(GpuSort *sort)
{
	size_t		limit = gpusort_possible_bytes(2 * Max(sort->memory.limit_bytes,
													   MIN_ENCODERS_BYTES));

	if (limit == sort->memory.limit_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to read back a row of a sort from its temporary file.")));
	set_limit(sort, limit);
}

void
gpusort_restore_limit(GpuSort *sort)
{
	if (sort->memory.limit_bytes != sort->memory.first_limit_bytes)
		set_limit(sort, sort->memory.first_limit_bytes);
}

void
gpusort_note_memory(GpuSort *sort)
{
	GpuSortStats *stats = &sort->stats;
	size_t		pool_bytes = pg_atomic_read_u32(sort->memory.pool_account.extents) *
		(size_t) GSD_EXTENT_BYTES;

	stats->memory_bytes = Max(stats->memory_bytes, gpusort_private_bytes(sort));
	stats->pool_bytes = Max(stats->pool_bytes, pool_bytes);
}

/* ---------- how much memory a sort may have ---------- */

size_t
gpusort_possible_bytes(size_t bytes)
{
	uint64		machine_bytes = gpusort_machine_memory();

	if (machine_bytes == 0 || machine_bytes >= ROW_STORE_MAX_BYTES)
		machine_bytes = ROW_STORE_MAX_BYTES - 1;
	return Min(bytes, machine_bytes);
}

size_t
gpusort_memory_limit(void)
{
	return gpusort_possible_bytes(get_hash_memory_limit());
}

size_t
gpusort_sort_pool_limit(void)
{
	return gpusort_pool_quota_extents() * (size_t) GSD_EXTENT_BYTES;
}

size_t
gpusort_sort_pool_available(void)
{
	return gpusort_pool_available_extents() * (size_t) GSD_EXTENT_BYTES;
}
