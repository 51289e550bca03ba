/*
 * portion_load.c
 *		Loading one portion of runs into memory, in order; see spill_private.h.
 */
#include "postgres.h"

#include "elapsed.h"
#include "runs/runs.h"
#include "sort/order_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

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
