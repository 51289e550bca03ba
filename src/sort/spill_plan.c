/*
 * spill_plan.c
 *		How a sort that is going to spill divides its memory of the pool; see memory_private.h.
 */
#include "postgres.h"

#include <math.h>

#include "engine/host/gs_sort.h"
#include "settings.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/*
 * A portion should be read in stretches of at least STRETCH_BYTES: shorter ones take as long to
 * find as to read.  A buffer of ENOUGH_BYTES is large enough for everything else, and is no
 * smaller, unless that is more than one SMALL_PART-th of the memory.
 */
#define STRETCH_BYTES		(64.0 * 1024)
#define ENOUGH_BYTES		(32.0 * 1024 * 1024)
#define SMALL_PART			8

/* Extents for each range of the buffer; and the same where sorts are forced, which is in tests. */
#define MIN_RANGE_EXTENTS			2
#define MIN_FORCED_RANGE_EXTENTS	1

/* The part of the runs that must fit into memory to be worth smaller runs. */
#define LEAST_KEPT_PART		0.25

/* Sorts have more rows than the planner expects, by this factor as a rule. */
#define ESTIMATE_FACTOR		1.02

/* What is known of a sort.  Sizes are in bytes. */
typedef struct Facts
{
	double		shares;			/* processes that divide the memory */
	double		rows;			/* rows that these will have together */
	double		row_bytes;		/* average length of a row in a run */
	double		row_factor;	/* by which a row is larger in memory, with its keys, than in a run */
	double		pool_bytes;		/* bytes of the pool for this process */
	double		slack_bytes;	/* bytes of these that stay unused in the last extents of ranges */
	double		least_bytes;	/* bytes that the buffer must have */
} Facts;

static double
expected_rows(const GpuSort *sort, bool is_full)
{
	double		shares = gpusort_shares(&sort->memory);
	double		rows = sort->memory.planned_rows * ESTIMATE_FACTOR;
	double		so_far = (double) sort->stats.rows * shares;

	if (sort->bound.rows > 0)
		return Min(rows, sort->bound.rows * shares);
	return Max(rows, is_full ? 2 * so_far : so_far);
}

static Facts
find_facts(GpuSort *sort, bool is_full)
{
	double		shares = gpusort_shares(&sort->memory);
	double		ranges = gpusort_count_ranges(sort);
	double		range_extents = gpusort_force ? MIN_FORCED_RANGE_EXTENTS : MIN_RANGE_EXTENTS;
	bool		stored = !sort->key_rows.used;
	double		row_bytes = Max(stored ? average_row_bytes(&sort->rows)
								: gpusort_key_row_bytes(sort), MAXIMUM_ALIGNOF);

	return (Facts) {
		.shares = shares,
		.rows = expected_rows(sort, is_full),
		.row_bytes = row_bytes,
		.row_factor = (stored ? 1 : 0) + gpusort_bytes_beside_row(sort) / row_bytes,
		.pool_bytes = (double) gpusort_memory_pool_bytes_at_hand(sort) / shares,
		.slack_bytes = ranges * GSD_EXTENT_BYTES / 2,
		.least_bytes = ranges * range_extents * GSD_EXTENT_BYTES
	};
}

/* Returns whether all rows will fit into memory, if each process has its share of them. */
static bool
fits(const GpuSort *sort, const Facts *facts)
{
	return facts->rows / facts->shares * facts->row_bytes * facts->row_factor +
		facts->slack_bytes <= facts->pool_bytes + sort->memory.limit_bytes;
}

/*
 * Returns how large the buffer should be.  A buffer of b bytes makes runs of b / f bytes, where f
 * is row_factor.  If all rows have r bytes there are r * f / b runs.  A portion as large as the
 * buffer has b / f bytes, divided among as many stretches as there are runs: each has (b / f)^2 / r
 * bytes.
 */
static double
buffer_bytes(const Facts *facts)
{
	double		run_bytes = facts->rows * facts->row_bytes;
	double		bytes = facts->row_factor * sqrt(STRETCH_BYTES * run_bytes);

	bytes = Max(bytes, Min(ENOUGH_BYTES, facts->pool_bytes / SMALL_PART)) + facts->slack_bytes;
	return Max(Min(bytes, facts->pool_bytes / 2), facts->least_bytes);
}

/*
 * Returns whether a sort may divide its memory.  The leader of a shared sort may not: what it has
 * of the pool, before and after parts are joined to it, is that of its parts.
 */
static bool
may_plan(const GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;

	return gpusort_may_spill(memory->first_limit_bytes) &&
		memory->buffer_bytes == 0 && memory->expected_rows == 0 &&
		memory->pool_account.max_extents > 0 &&
		sort->rows.count > 0 && sort->keys.ncolumns > 0 && sort->parts.joined == NULL &&
		(!sort->parts.is_part || (sort->runs.spill != NULL && !sort->runs.spill->refused));
}

/* Divides the memory, if enough of the runs can stay in it. */
static void
divide(GpuSortMemory *memory, const Facts *facts)
{
	double		buffer = buffer_bytes(facts);
	double		keep = floor((facts->pool_bytes - buffer) / GSD_EXTENT_BYTES) * GSD_EXTENT_BYTES;

	if (keep <= 0 || keep * facts->shares < facts->rows * facts->row_bytes * LEAST_KEPT_PART)
		return;
	memory->keep_bytes = (size_t) keep;
	memory->buffer_bytes = (size_t) Max(buffer - facts->slack_bytes, buffer / 2);
}

void
gpusort_spill_plan(GpuSort *sort, uint64 rows)
{
	Facts		facts;

	if (!may_plan(sort))
		return;
	facts = find_facts(sort, false);
	if (gpusort_bytes_of_rows(sort, rows) + facts.slack_bytes > facts.pool_bytes / 2 &&
		!fits(sort, &facts))
		divide(&sort->memory, &facts);
}

void
gpusort_spill_plan_late(GpuSort *sort)
{
	Facts		facts;

	if (!may_plan(sort))
		return;
	facts = find_facts(sort, true);
	divide(&sort->memory, &facts);
}

bool
gpusort_exceeds_buffer(GpuSort *sort, uint64 rows, size_t row_bytes)
{
	const GpuSortMemory *memory = &sort->memory;

	return memory->buffer_bytes > 0 && memory->expected_rows == 0 && sort->rows.count > 0 &&
		rows * gpusort_bytes_beside_row(sort) + row_bytes > memory->buffer_bytes;
}

/* ---------- how much memory rows take, and how much there is for them ---------- */

/* A number of rows whose bitmaps are whole words. */
#define MANY_ROWS	(1 << 20)

static bool
add_bytes(GpuSortRange **range, size_t bytes, void *arg)
{
	*(size_t *) arg += bytes;
	return true;
}

size_t
gpusort_bytes_of_rows(GpuSort *sort, uint64 rows)
{
	size_t		bytes = rows * average_row_bytes(&sort->rows);

	gpusort_visit_planes(sort, rows, add_bytes, &bytes);
	gpusort_visit_workspace(sort, rows, add_bytes, &bytes);
	return bytes - Min(bytes, gs_sort_workspace_bytes(0));
}

size_t
gpusort_bytes_beside_row(GpuSort *sort)
{
	size_t		bytes = 0;

	gpusort_visit_planes(sort, MANY_ROWS, add_bytes, &bytes);
	gpusort_visit_workspace(sort, MANY_ROWS, add_bytes, &bytes);
	return bytes / MANY_ROWS + 1;
}

size_t
gpusort_memory_pool_bytes_at_hand(const GpuSort *sort)
{
	const GpuSortPoolAccount *account = &sort->memory.pool_account;
	uint32		extents = pg_atomic_read_u32(account->extents) + gpusort_pool_room(account);

	return (extents - Min(extents, sort->memory.kept_extents)) * (size_t) GSD_EXTENT_BYTES;
}

size_t
gpusort_memory_at_hand(GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;
	size_t		private_bytes = memory->limit_bytes -
		Min(memory->other_private_bytes, memory->limit_bytes);
	size_t		pool_bytes = gpusort_memory_pool_bytes_at_hand(sort);
	/* the last extent of each range is half empty, on average */
	size_t		unused_bytes = gpusort_count_ranges(sort) * (GSD_EXTENT_BYTES / 2);

	return private_bytes + (pool_bytes > unused_bytes ? pool_bytes - unused_bytes : 0);
}
