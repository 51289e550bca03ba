/*
 * sort_portions.c
 *		Reading back the rows of a sort that has spilled; see spill_private.h.
 *
 * The runs are not merged row by row.  Instead, their rows are read back range by range of the
 * order (runs/runs.h), and each range, a portion, is sorted in memory as any rows are: by
 * the engine, refined, and verified.  So all that is true of a sort in memory is true of a portion,
 * positions stand for rows as they always do, and any portion can be read again.  Rows that are
 * equal come in the order of their runs, whichever portion they are in.
 *
 * A portion that does not fit after all, because the pool has less memory than it had, is divided
 * in two.  A portion whose order can't be confirmed is sorted by PostgreSQL's comparison.
 *
 * If there are too many runs for portions of a reasonable size, they are first made into fewer,
 * larger runs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "protocol/gsd_holders.h"
#include "runs/runs.h"
#include "settings.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/parts_private.h"
#include "sort/sort.h"
#include "sort/sort_view.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/*
 * Limits of how many runs are read at once.  Within these it is as many as memory has room for
 * stretches of MIN_STRETCH_BYTES: with shorter ones, finding where they end takes longer than
 * making fewer runs first.
 */
#ifndef GPUSORT_MAX_RUNS
#define GPUSORT_MAX_RUNS	1024
#endif
#define MIN_RUNS		6
#define MIN_STRETCH_BYTES	((size_t) 16 << 10)

/*
 * Portions are no larger than PORTION_BYTES, or than it takes for stretches of STRETCH_BYTES: small
 * portions are sorted in the processor's caches, and the first rows come early.
 */
#define PORTION_BYTES	((size_t) 32 << 20)
#define STRETCH_BYTES	((size_t) 256 << 10)

/*
 * Extents that a participant that loads portions must have for each of its ranges, of which the
 * last one is half empty; and the same where sorts are forced, which is in tests.
 */
#define MIN_RANGE_EXTENTS			2
#define MIN_FORCED_RANGE_EXTENTS	1

/* The part of the memory at hand that a portion is planned to take, and that samples may take. */
#define PORTION_PART	0.8
#define SAMPLE_PART		0.1

/* ---------- portions ---------- */

/*
 * Keeps the last row of the window, which is about to go, if the next window's first row may have
 * to be compared with it.
 */
static void
keep_last_row(GpuSort *sort)
{
	const GpuSortWindow *window = &sort->runs.window;
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortView view;
	IndexTuple	last;

	if (!sort->index_rows || window->nrows == 0)
		return;
	gpusort_view(sort, &view);
	last = gpusort_view_row(&view, view.nrows - 1);
	if (spill->last_row == NULL)
		spill->last_row = MemoryContextAlloc(spill->context, INDEX_SIZE_MASK + 1);
	memcpy(spill->last_row, last, IndexTupleSize(last));
	spill->last_position = window->first + window->nrows - 1;
}

/* Finds out whether the first row of the window is equal to the row before it. */
static void
compare_with_last_row(GpuSort *sort)
{
	const GpuSortSpill *spill = sort->runs.spill;
	GpuSortRowComparer *comparer = &spill->portions->search.comparer;
	GpuSortView view;

	if (!sort->index_rows || spill->last_row == NULL ||
		spill->last_position + 1 != sort->runs.window.first)
		return;
	gpusort_row_comparer_load(comparer, 0, spill->last_row);
	gpusort_view(sort, &view);
	gpusort_row_comparer_load(comparer, 1, gpusort_view_row(&view, 0));
	if (gpusort_row_comparer_compare_keys(comparer) == 0)
		((uint64 *) view.equal)[0] |= 1;
	gpusort_row_comparer_clear(comparer);
}

/*
 * Loads the portion that has the row at a position into this process's memory, if it is not there.
 */
static void
load(GpuSort *sort, uint64 position)
{
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortPortions *portions = spill->portions;
	uint32		number;

	if (spill->loaded && position >= spill->loaded_first &&
		position - spill->loaded_first < sort->rows.count)
		return;
	spill->loaded = false;
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(spill->context);

		number = gpusort_portions_find(portions, position);
		if (gpusort_portion_load(sort, portions->runs, portions->nruns,
								 gpusort_portion_cuts(portions, number),
								 gpusort_portion_cuts(portions, number + 1)))
		{
			MemoryContextSwitchTo(old);
			break;
		}
		/* there is no memory for one row, which there was when the row came */
		if (!gpusort_portions_split(portions, number))
			gpusort_raise_limit(sort);
		MemoryContextSwitchTo(old);
	}
	spill->loaded = true;
	spill->loaded_first = portions->first[number];
	sort->stats.portions++;
	gpusort_pool_clear_want(&sort->memory.pool_account);
}

/* Makes the portion in this process's memory the window. */
static void
show_loaded(GpuSort *sort)
{
	sort->runs.window.first = sort->runs.spill->loaded_first;
	sort->runs.window.nrows = sort->rows.count;
}

/*
 * Maps a portion that a worker loads.  Returns false if the workers don't load it.  Rather than
 * wait for them, this process loads the next portion itself, unless it already has one.
 */
static bool
take_from_crew(GpuSort *sort, uint64 position)
{
	const GpuSortSpill *spill = sort->runs.spill;
	bool		idle = !spill->loaded || spill->loaded_first < position;
	GpuSortCrewAnswer answer;
	uint64		ahead;

	if (spill->crew == NULL)
		return false;
	while ((answer = gpusort_crew_take(sort, position, idle, &ahead)) == GPUSORT_CREW_BUSY)
	{
		load(sort, ahead);
		idle = false;
	}
	return answer == GPUSORT_CREW_MAPPED;
}

void
gpusort_sort_load_portion(GpuSort *sort, uint64 position)
{
	const GpuSortWindow *window = &sort->runs.window;

	if (position >= window->first && position - window->first < window->nrows)
		return;
	keep_last_row(sort);
	gpusort_unmap_window(sort);
	if (!take_from_crew(sort, position))
	{
		load(sort, position);
		show_loaded(sort);
	}
	compare_with_last_row(sort);
}

/* ---------- dividing the runs ---------- */

/*
 * Returns how many of the processes that have collected the rows may load portions side by side.
 * There must be memory for some extents for each of their ranges, and for stretches of the runs
 * that are not too short.
 */
static uint32
find_participants(GpuSort *sort, uint32 nruns)
{
	size_t		range_extents = gpusort_force ? MIN_FORCED_RANGE_EXTENTS : MIN_RANGE_EXTENTS;
	size_t		least = nruns * MIN_STRETCH_BYTES;
	size_t		ranges = gpusort_count_ranges(sort);

	if (sort->parts.joined == NULL || (sort->parts.is_joined && sort->runs.group_columns == 0))
		return 1;
	least = Max(least, ranges * range_extents * GSD_EXTENT_BYTES);
	return (uint32) Max(Min(gpusort_memory_pool_bytes_at_hand(sort) / least,
							sort->parts.joined->max_parts), 1);
}

/* Returns how much memory each of these processes has for a portion. */
static size_t
portion_memory(GpuSort *sort)
{
	uint32		participants = sort->runs.spill->participants;
	size_t		half_extents = gpusort_count_ranges(sort) * GSD_EXTENT_BYTES / 2;
	size_t		share;

	if (participants == 1)
		return gpusort_memory_at_hand(sort);
	/* others may have taken memory of the pool since the participants were counted */
	share = gpusort_memory_pool_bytes_at_hand(sort) / participants;
	return Max(share, 2 * half_extents) - half_extents;
}

static GpuSortPortions *
make_portions(GpuSort *sort, const GpuSortRun **runs, uint32 nruns)
{
	MemoryContext old = MemoryContextSwitchTo(sort->runs.spill->context);
	GpuSortRowKeys keys = gpusort_row_keys(&sort->spec);
	size_t		memory = portion_memory(sort);
	GpuSortPortionLimits limits;
	GpuSortPortions *portions;

	limits.row_bytes = gpusort_bytes_beside_row(sort);
	limits.bytes = Min(memory * PORTION_PART, Max(PORTION_BYTES, nruns * STRETCH_BYTES));
	limits.sample_bytes = memory * SAMPLE_PART;
	limits.group_columns = sort->runs.group_columns;
	limits.min_rows = sort->runs.min_portion_rows;
	portions = gpusort_portions_make(runs, nruns, sort->desc, &keys, sort->index_rows, &limits);
	MemoryContextSwitchTo(old);
	return portions;
}

/* ---------- making fewer runs ---------- */

/* Makes one run of several. */
static void
merge_runs(GpuSort *sort, const GpuSortRun **runs, uint32 nruns, GpuSortRunFile *file)
{
	GpuSortPortions *portions = make_portions(sort, runs, nruns);
	uint64		rows = portions->first[portions->count];
	uint32		portions_before = sort->stats.portions;

	sort->runs.spill->portions = portions;
	sort->runs.spill->loaded = false;
	gpusort_run_begin(file);
	for (uint64 position = 0; position < rows; position += sort->rows.count)
	{
		load(sort, position);
		gpusort_write_rows(sort, file);
	}
	gpusort_run_end(file);
	gpusort_portions_free(portions);
	sort->stats.portions = portions_before;
	sort->stats.merged_runs++;
}

/* Returns a list of all runs of all files. */
static const GpuSortRun **
list_runs(GpuSortSpill *spill, uint32 *count)
{
	const GpuSortRun **runs;
	uint32		n = 0;

	for (uint32 i = 0; i < spill->nread; i++)
		n += spill->read[i]->nruns;
	runs = MemoryContextAlloc(spill->context, Max(n, 1) * sizeof(GpuSortRun *));
	*count = n;
	n = 0;
	for (uint32 i = 0; i < spill->nread; i++)
		for (uint32 r = 0; r < spill->read[i]->nruns; r++)
			runs[n++] = &spill->read[i]->runs[r];
	return runs;
}

/* Makes runs of others until there are few enough to be read at once.  Returns a list of them. */
static const GpuSortRun **
reduce_runs(GpuSort *sort, uint32 *count)
{
	GpuSortSpill *spill = sort->runs.spill;
	const GpuSortRun **runs = list_runs(spill, count);
	size_t		stretches = gpusort_memory_at_hand(sort) / MIN_STRETCH_BYTES;
	uint32		max_runs = (uint32) Min(Max(stretches, MIN_RUNS), GPUSORT_MAX_RUNS);

	while (*count > max_runs)
	{
		uint32		old_files = spill->nread;
		GpuSortRunFile *file = gpusort_begin_run_file(sort);

		/* runs that are merged are neighbours, so that equal rows keep their order */
		for (uint32 i = 0; i < *count; i += max_runs)
			merge_runs(sort, runs + i, Min(*count - i, max_runs), file);
		for (; old_files > 0; old_files--)
			gpusort_drop_run_file(sort, 0);
		gpusort_read_run_file(spill, file);
		pfree(runs);
		runs = list_runs(spill, count);
	}
	return runs;
}

GpuSortHandover
gpusort_finish_spill(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	const GpuSortRun **runs;
	uint32		nruns;

	/* rows that are read back are not trimmed */
	sort->bound.trim_at = 0;

	if (sort->rows.count > 0)
	{
		GpuSortHandover why = gpusort_spill_rows(sort);

		if (why != GPUSORT_HANDOVER_NONE)
			return why;
	}
	if (spill->file != NULL)
		gpusort_read_run_file(spill, spill->file);
	spill->file = NULL;
	runs = reduce_runs(sort, &nruns);
	spill->participants = find_participants(sort, nruns);
	spill->portions = make_portions(sort, runs, nruns);
	spill->loaded = false;
	gpusort_forget_rows(sort);
	return GPUSORT_HANDOVER_NONE;
}

/* ---------- loading one portion of runs into memory, in order ---------- */

/* Returns the number of rows of a portion. */
static uint64
count_rows(uint32 nruns, const GpuSortRunPlace *from, const GpuSortRunPlace *to)
{
	uint64		rows = 0;

	for (uint32 i = 0; i < nruns; i++)
		rows += to[i].row - from[i].row;
	return rows;
}

/*
 * Reads the rows of a portion.  Planes take no more memory than its rows need.  Returns false if
 * they don't fit.
 */
static bool
read_rows(GpuSort *sort, const GpuSortRun **runs, uint32 nruns, const GpuSortRunPlace *from,
		  const GpuSortRunPlace *to)
{
	GpuSortRunReader reader;
	instr_time	start;
	void	   *tuple = NULL;

	INSTR_TIME_SET_CURRENT(start);
	gpusort_forget_rows(sort);
	sort->memory.expected_rows = count_rows(nruns, from, to);
	gpusort_run_reader_init(&reader);
	for (uint32 i = 0; i < nruns && tuple == NULL; i++)
	{
		gpusort_run_reader_begin(&reader, runs[i], from[i], to[i]);
		while ((tuple = gpusort_run_reader_next(&reader)) != NULL)
			if (!gpusort_put_stored_tuple(sort, tuple))
				break;
	}
	gpusort_run_reader_free(&reader);
	sort->memory.expected_rows = 0;
	gpusort_add_elapsed(&sort->stats.read_time, start);
	return tuple == NULL;
}

bool
gpusort_portion_load(GpuSort *sort, const GpuSortRun **runs, uint32 nruns,
					 const GpuSortRunPlace *from, const GpuSortRunPlace *to)
{
	if (!read_rows(sort, runs, nruns, from, to))
		return false;
	if (gpusort_sort_rows(sort) == GPUSORT_HANDOVER_NONE)
		return true;
	if (!gpusort_has_order(sort))
		return false;
	gpusort_sort_by_comparison(sort);
	return true;
}

/* ---------- moving a result that nobody reads now to temporary files ---------- */

/*
 * All rows are written as one run, in order.  From then on the sort is one that has spilled:
 * whoever asks for a row has the portion loaded that the row is in.
 */

/* A sort with fewer extents is too small for that to gain anything. */
#define MIN_EXTENTS		(2 * GSD_LEAST_EXTENTS)

bool
gpusort_should_move_out(const GpuSort *sort)
{
	const GpuSortPoolAccount *account = &sort->memory.pool_account;

	/* temp_file_limit: a query that has its rows already must not fail because of files */
	return sort->order.performed && sort->tuplesort == NULL && !sort->index_rows &&
		sort->keys.ncolumns > 0 && sort->rows.count > 0 && !gpusort_has_runs(sort) &&
		gpusort_enable_spill && temp_file_limit < 0 &&
		pg_atomic_read_u32(account->extents) >= MIN_EXTENTS && gpusort_pool_is_wanted(account);
}

void
gpusort_move_out(GpuSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	GpuSortSpill *spill = sort->runs.spill != NULL ? sort->runs.spill : gpusort_make_spill(sort);

	spill->file = gpusort_begin_run_file(sort);
	gpusort_run_begin(spill->file);
	gpusort_write_rows(sort, spill->file);
	gpusort_run_end(spill->file);
	spill->rows = sort->rows.count;
	sort->stats.runs++;
	gpusort_forget_rows(sort);
	gpusort_rewind_ranges(sort);
	/* this can't fail, since no rows are left in memory */
	(void) gpusort_finish_spill(sort);
	sort->order.performed = true;
	MemoryContextSwitchTo(old);
}
