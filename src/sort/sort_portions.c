/*
 * sort_portions.c
 *		The rows of a sort that has spilled, back from its runs; see sort_portions.h.
 *
 * Instead of merging all runs row by row, their rows are read back range by range of the order
 * (runs/run_portions.h), and each range is sorted in memory as any rows are: by the engine,
 * refined, and verified.  So all that is true of a sort in memory is true of a portion, positions
 * stand for rows as they always do, and any portion can be read again.  Rows that are equal come in the
 * order of their runs, whichever portion they are in.
 *
 * A portion that does not fit after all, as when the pool has less than it had, is divided in two.
 * One whose order can't be confirmed is sorted by PostgreSQL's comparison.
 *
 * If there are too many runs for portions of some size, they are first made into fewer, larger
 * ones.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "elapsed.h"
#include "interrupts.h"
#include "runs/run_reader.h"
#include "sort/sort_compare.h"
#include "sort/sort_memory.h"
#include "sort/sort_portions.h"
#include "sort/sort_put.h"
#include "sort/sort_rows.h"
#include "sort/sort_spill.h"
#include "sort/sort_state.h"
#include "sort/sort_view.h"
#include "sort/spill_files.h"

/*
 * Runs that are read at once, as many as memory has room for stretches of such a length: with
 * shorter ones, finding where they end takes longer than making fewer runs first.
 */
#ifndef GPUSORT_MAX_RUNS
#define GPUSORT_MAX_RUNS	1024
#endif
#define MIN_RUNS		6
#define MIN_STRETCH_BYTES	((size_t) 16 << 10)

/*
 * Portions are not larger than it takes to read long stretches: small ones are sorted in the
 * processor's caches, and the first rows come early.
 */
#define PORTION_BYTES	((size_t) 32 << 20)
#define STRETCH_BYTES	((size_t) 256 << 10)

/* Of the memory that there is, what a portion is planned to take, and samples may. */
#define PORTION_PART	0.8
#define SAMPLE_PART		0.1

/* ---------- portions ---------- */

/* Read a portion; false if it does not fit. */
static bool
read_portion(GpuSort *sort, const GpuSortPortions *portions, uint32 number)
{
	const GpuSortRunPlace *from = gpusort_portion_cuts(portions, number);
	const GpuSortRunPlace *to = gpusort_portion_cuts(portions, number + 1);
	GpuSortRunReader reader;
	instr_time	start;
	void	   *tuple = NULL;

	INSTR_TIME_SET_CURRENT(start);
	gpusort_forget_rows(sort);
	gpusort_run_reader_init(&reader);
	for (uint32 i = 0; i < portions->nruns && tuple == NULL; i++)
	{
		gpusort_run_reader_begin(&reader, portions->runs[i], from[i], to[i]);
		while ((tuple = gpusort_run_reader_next(&reader)) != NULL)
			if (!gpusort_put_stored_tuple(sort, tuple))
				break;
	}
	gpusort_run_reader_free(&reader);
	gpusort_add_elapsed(&sort->stats.read_time, start);
	return tuple == NULL;
}

/* Read a portion and sort it; false if there is no memory. */
static bool
sort_portion(GpuSort *sort, const GpuSortPortions *portions, uint32 number)
{
	if (!read_portion(sort, portions, number))
		return false;
	if (gpusort_sort_rows(sort) == GPUSORT_HANDOVER_NONE)
		return true;
	if (!gpusort_has_order(sort))
		return false;
	gpusort_sort_by_comparison(sort);
	return true;
}

/* The rows in memory go: keep the last one, if it may have to be compared with the next. */
static void
keep_last_row(GpuSort *sort)
{
	GpuSortSpill *spill = sort->spill;
	GpuSortView view;
	IndexTuple	last;

	if (!sort->index_rows || spill->loaded == GPUSORT_NOT_LOADED || sort->rows.count == 0)
		return;
	gpusort_view(sort, &view);
	last = gpusort_view_row(&view, view.nrows - 1);
	if (spill->last_row == NULL)
		spill->last_row = MemoryContextAlloc(spill->context, INDEX_SIZE_MASK + 1);
	memcpy(spill->last_row, last, IndexTupleSize(last));
	spill->last_position = sort->first + sort->rows.count - 1;
}

/* Is the first row in memory equal to the one before it? */
static void
compare_with_last_row(GpuSort *sort)
{
	const GpuSortSpill *spill = sort->spill;
	GpuSortRowComparer *comparer = &spill->portions->comparer;
	GpuSortView view;

	if (spill->last_row == NULL || spill->last_position + 1 != sort->first)
		return;
	gpusort_row_comparer_load(comparer, 0, spill->last_row);
	gpusort_view(sort, &view);
	gpusort_row_comparer_load(comparer, 1, gpusort_view_row(&view, 0));
	if (gpusort_row_comparer_compare_keys(comparer) == 0)
		RANGE_U64(sort->order.equal)[0] |= 1;
	gpusort_row_comparer_clear(comparer);
}

/* Have a portion with the row at a position in memory. */
static void
load(GpuSort *sort, GpuSortPortions *portions, uint64 position)
{
	GpuSortSpill *spill = sort->spill;
	uint32		number;

	keep_last_row(sort);

	spill->loaded = GPUSORT_NOT_LOADED;
	for (;;)
	{
		MemoryContext old = MemoryContextSwitchTo(spill->context);

		number = gpusort_portions_find(portions, position);
		if (sort_portion(sort, portions, number))
		{
			MemoryContextSwitchTo(old);
			break;
		}
		/* no memory for a row: there has been some when it came */
		if (!gpusort_portions_split(portions, number))
			gpusort_raise_limit(sort);
		MemoryContextSwitchTo(old);
	}
	sort->first = portions->first[number];
	spill->loaded = number;
	sort->stats.portions++;
	if (sort->index_rows)
		compare_with_last_row(sort);
}

void
gpusort_load_portion(GpuSort *sort, uint64 position)
{
	const GpuSortSpill *spill = sort->spill;

	if (spill->loaded == GPUSORT_NOT_LOADED || position < sort->first ||
		position - sort->first >= sort->rows.count)
		load(sort, spill->portions, position);
}

static GpuSortPortions *
make_portions(GpuSort *sort, const GpuSortRun **runs, uint32 nruns)
{
	MemoryContext old = MemoryContextSwitchTo(sort->spill->context);
	GpuSortRowKeys keys = gpusort_row_keys(&sort->spec);
	size_t		memory = gpusort_memory_at_hand(sort);
	GpuSortPortionLimits limits;
	GpuSortPortions *portions;

	limits.row_bytes = gpusort_bytes_beside_row(sort);
	limits.bytes = Min(memory * PORTION_PART, Max(PORTION_BYTES, nruns * STRETCH_BYTES));
	limits.sample_bytes = memory * SAMPLE_PART;
	portions = gpusort_portions_make(runs, nruns, sort->desc, &keys, sort->index_rows, &limits);
	MemoryContextSwitchTo(old);
	return portions;
}

/* ---------- making fewer runs ---------- */

/* Make one run of some. */
static void
merge_runs(GpuSort *sort, const GpuSortRun **runs, uint32 nruns, GpuSortRunFile *file)
{
	GpuSortPortions *portions = make_portions(sort, runs, nruns);
	uint64		rows = portions->first[portions->count];
	uint32		portions_before = sort->stats.portions;

	sort->spill->portions = portions;
	gpusort_run_begin(file);
	for (uint64 position = 0; position < rows; position = sort->first + sort->rows.count)
	{
		load(sort, portions, position);
		gpusort_write_rows(sort, file);
	}
	gpusort_run_end(file);
	gpusort_portions_free(portions);
	sort->stats.portions = portions_before;
	sort->stats.merged_runs++;
}

/* All runs of all files. */
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

/* Make so many runs of all that they can be read at once. */
static const GpuSortRun **
reduce_runs(GpuSort *sort, uint32 *count)
{
	GpuSortSpill *spill = sort->spill;
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
			gpusort_drop_run_file(spill, 0);
		gpusort_read_run_file(spill, file);
		pfree(runs);
		runs = list_runs(spill, count);
	}
	return runs;
}

GpuSortHandover
gpusort_finish_spill(GpuSort *sort)
{
	GpuSortSpill *spill = sort->spill;
	const GpuSortRun **runs;
	uint32		nruns;

	/* nothing that is read back is trimmed */
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
	spill->portions = make_portions(sort, runs, nruns);
	spill->loaded = GPUSORT_NOT_LOADED;
	gpusort_forget_rows(sort);
	sort->first = 0;
	return GPUSORT_HANDOVER_NONE;
}
