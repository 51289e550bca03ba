/*
 * spill_plan.c
 *		How a sort that is going to spill divides its memory of the pool; see spill_plan.h.
 */
#include "postgres.h"

#include <math.h>

#include "settings.h"
#include "sort/key_rows.h"
#include "sort/memory_at_hand.h"
#include "sort/sort_ranges.h"
#include "sort/spill_files.h"
#include "sort/spill_plan.h"

/*
 * Stretches that a portion is to be read in: shorter ones take as long to find as to read.  And a buffer
 * that is large enough for all else, if it is a small part of the memory.
 */
#define STRETCH_BYTES		(64.0 * 1024)
#define ENOUGH_BYTES		(32.0 * 1024 * 1024)
#define SMALL_PART			8

/* Extents for each range of the buffer; and where sorts are forced, in tests that is. */
#define MIN_RANGE_EXTENTS			2
#define MIN_FORCED_RANGE_EXTENTS	1

/* Of the runs, what must fit into memory to be worth smaller runs. */
#define LEAST_KEPT_PART		0.25

/* Rows come in larger numbers than a planner thinks, by so much as a rule. */
#define ESTIMATE_FACTOR		1.02

/* What is known of a sort, in bytes. */
typedef struct Facts
{
	double		shares;			/* processes */
	double		rows;			/* that they will have together */
	double		row_bytes;		/* of each, in a run */
	double		row_factor;		/* in memory, with its keys, it takes so many times as much */
	double		pool_bytes;		/* for this process */
	double		slack_bytes;	/* of it that the last extents of ranges leave */
	double		least_bytes;	/* that the buffer must have */
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
		.pool_bytes = (double) gpusort_pool_bytes_at_hand(sort) / shares,
		.slack_bytes = ranges * GSD_EXTENT_BYTES / 2,
		.least_bytes = ranges * range_extents * GSD_EXTENT_BYTES
	};
}

/* Will all rows be in memory, if each process has its part of them? */
static bool
fits(const GpuSort *sort, const Facts *facts)
{
	return facts->rows / facts->shares * facts->row_bytes * facts->row_factor +
		facts->slack_bytes <= facts->pool_bytes + sort->memory.limit_bytes;
}

/*
 * A buffer of b bytes makes runs of b / f bytes, of which there are r * f / b if all are r bytes, and
 * a portion as large has b / f divided by that of each: stretches of (b / f)^2 / r.
 */
static double
buffer_bytes(const Facts *facts)
{
	double		run_bytes = facts->rows * facts->row_bytes;
	double		bytes = facts->row_factor * sqrt(STRETCH_BYTES * run_bytes);

	bytes = Max(bytes, Min(ENOUGH_BYTES, facts->pool_bytes / SMALL_PART)) + facts->slack_bytes;
	return Max(Min(bytes, facts->pool_bytes / 2), facts->least_bytes);
}

/* Not the leader of a shared sort: what it has of the pool, before or after it joins them, is its parts'. */
static bool
may_plan(const GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;

	return gpusort_enable_spill && memory->buffer_bytes == 0 && memory->expected_rows == 0 &&
		memory->pool_account.max_extents > 0 &&
		sort->rows.count > 0 && sort->keys.ncolumns > 0 && sort->parts == NULL &&
		(!sort->is_part || (sort->spill != NULL && !sort->spill->refused));
}

/* Divide the memory, if enough of the runs can stay in it. */
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
gpusort_plan_spill(GpuSort *sort, uint64 rows)
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
gpusort_plan_spill_late(GpuSort *sort)
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
