/*
 * run_cuts_private.h
 *		Where sorted runs are cut by a row, which is called the splitter.
 *
 * All rows before the cuts come before the splitter, by PostgreSQL's own comparison.  Rows that are
 * equal by that comparison come in the order of their runs.
 */
#ifndef GPUSORT_RUN_CUTS_PRIVATE_H
#define GPUSORT_RUN_CUTS_PRIVATE_H

#include "runs/runs.h"

/* A tuple that begins a portion, or is a candidate for that. */
typedef struct GpuSortSplitter
{
	void	   *tuple;
	uint32		run;
	GpuSortRunPlace place;
	uint64		bytes;			/* of the rows it stands for, as portions count them */

	/*
	 * The cut lies before the first row that is equal to the tuple in so many columns; 0: before
	 * the tuple itself.
	 */
	int			group_columns;
} GpuSortSplitter;

/*
 * Finds the cuts of all runs.  Each run is searched from `from`, where it was cut last.  If `end`
 * is not NULL, no cut lies behind it.  Cuts never go backward, even if the comparison is
 * inconsistent.
 */
extern void gpusort_cut_runs(GpuSortCutSearch *s, uint32 nruns, const GpuSortSplitter *splitter,
							 const GpuSortRunPlace *from, const GpuSortRunPlace *end,
							 GpuSortRunPlace *cuts);

/*
 * Compares the loaded tuples, which are of these two runs.  Equal tuples compare by the order of
 * their runs.
 */
extern int	gpusort_cut_compare_loaded(GpuSortCutSearch *s, uint32 run_a, uint32 run_b);

/* Makes room for so many bytes in the buffer. */
extern void gpusort_cut_reserve(GpuSortCutSearch *s, size_t bytes);

/* Reads the tuple at an offset into the buffer. */
extern void *gpusort_cut_read_tuple(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset);

/*
 * Reads tuples from an offset on into the buffer: as many as lie within so many bytes, but at least
 * one.  Returns how many there are.  The run must have as many bytes as are asked for.
 */
extern uint32 gpusort_cut_read_piece(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset,
									 size_t bytes);

/* Returns the last block that begins at or before an offset. */
extern uint32 gpusort_run_block_at(const GpuSortRun *run, uint64 offset);

static inline GpuSortRunPlace
gpusort_later_place(GpuSortRunPlace a, GpuSortRunPlace b)
{
	return a.row > b.row ? a : b;
}

#endif							/* GPUSORT_RUN_CUTS_PRIVATE_H */
