/*
 * run_cuts.h
 *		Where sorted runs are cut by a row, the splitter.
 *
 * Everything before the cut comes before the splitter, by PostgreSQL's own comparison, and rows that
 * are equal by it in the order of their runs.
 *
 * Private to src/runs.
 */
#ifndef GPUSORT_RUN_CUTS_H
#define GPUSORT_RUN_CUTS_H

#include "runs/row_comparer.h"
#include "runs/run_file.h"

/* A tuple that begins a portion, or might. */
typedef struct GpuSortSplitter
{
	void	   *tuple;
	uint32		run;
	GpuSortRunPlace place;
	uint64		bytes;			/* that it stands for, as portions count them */
	int			group_columns;	/* the cut is before the first row that is equal in so many; 0: before
								 * the tuple itself */
} GpuSortSplitter;

/* Looking into runs: what is read, and where tuples in it begin. */
typedef struct GpuSortCutSearch
{
	MemoryContext context;
	const GpuSortRun **runs;
	GpuSortRowComparer comparer;
	char	   *buffer;
	size_t		buffer_size;
	uint32	   *offsets;
	uint32		offsets_size;
} GpuSortCutSearch;

/*
 * Find the cuts of all runs, from the places where they were cut last and not behind `end`, if that
 * is not NULL.  Cuts stay in order even if the comparison is none.
 */
extern void gpusort_cut_runs(GpuSortCutSearch *s, uint32 nruns, const GpuSortSplitter *splitter,
							 const GpuSortRunPlace *from, const GpuSortRunPlace *end,
							 GpuSortRunPlace *cuts);

/* Compare the loaded tuples of two runs: if they are equal, by the order of their runs. */
extern int	gpusort_cut_compare_loaded(GpuSortCutSearch *s, uint32 run_a, uint32 run_b);

/* Have room for so many bytes in the buffer. */
extern void gpusort_cut_reserve(GpuSortCutSearch *s, size_t bytes);

/* Read the tuple at an offset into the buffer. */
extern void *gpusort_cut_read_tuple(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset);

/*
 * Read the tuples from an offset on that lie within so many bytes, or at least one, into the buffer;
 * returns how many there are.  The run has as many bytes as are asked for.
 */
extern uint32 gpusort_cut_read_piece(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset,
									 size_t bytes);

/* The last block that begins at or before an offset. */
extern uint32 gpusort_run_block_at(const GpuSortRun *run, uint64 offset);

static inline GpuSortRunPlace
gpusort_later_place(GpuSortRunPlace a, GpuSortRunPlace b)
{
	return a.row > b.row ? a : b;
}

#endif							/* GPUSORT_RUN_CUTS_H */
