/*
 * run_portions.h
 *		Dividing sorted runs into portions: ranges of the order that fit into memory.
 *
 * A portion consists of one stretch of each run.  All rows of a portion come before those of the
 * next, by PostgreSQL's own comparison.  Rows that are equal by that comparison come in the order
 * of their runs, and of their places in a run.  So portions may be sorted one at a time and in any
 * order, by any method that agrees with the comparison.
 *
 * Portions can be made of whole groups: rows that are equal in the first columns are in the same
 * portion, however many there are.  Such a portion may be split nevertheless.
 *
 * The method is published: distribution sort with splitters from samples of sorted runs (Shi and
 * Schaeffer, PSRS, 1992).  Cuts are exact, whatever the samples are.
 *
 * Public: sort includes it.
 */
#ifndef GPUSORT_RUN_PORTIONS_H
#define GPUSORT_RUN_PORTIONS_H

#include "runs/row_comparer.h"
#include "runs/run_cuts.h"
#include "runs/run_file.h"

typedef struct GpuSortPortions
{
	MemoryContext context;
	uint32		nruns;
	const GpuSortRun **runs;
	GpuSortCutSearch search;
	uint32		count;
	uint32		size;			/* arrays have room for so many portions and one more */
	/*
	 * Where each portion begins in each run, nruns places for each portion; and the ends of the
	 * runs.
	 */
	GpuSortRunPlace *cuts;
	uint64	   *first;			/* position of each portion's first row; and behind the last one */
} GpuSortPortions;

/* What a portion may hold. */
typedef struct GpuSortPortionLimits
{
	uint64		bytes;
	size_t		row_bytes;		/* counted for each row in addition to its bytes in the run */
	size_t		sample_bytes;	/* memory that samples may take */
	int			group_columns;	/* rows equal in so many stay together; 0: cuts anywhere */
	uint64		min_rows;		/* of each portion, if there are several */
} GpuSortPortionLimits;

/*
 * Divides the runs, which must live as long as the result.  Allocates in a child of the current
 * memory context.
 */
extern GpuSortPortions *gpusort_portions_make(const GpuSortRun **runs, uint32 nruns, TupleDesc desc,
											  const GpuSortRowKeys *keys, bool index_rows,
											  const GpuSortPortionLimits *limits);

/*
 * Makes a single portion of runs that were divided in another process: what lies between two places
 * of each run.  Otherwise the same as gpusort_portions_make().
 */
extern GpuSortPortions *gpusort_portions_make_one(const GpuSortRun **runs, uint32 nruns,
												  const GpuSortRunPlace *from,
												  const GpuSortRunPlace *to, TupleDesc desc,
												  const GpuSortRowKeys *keys, bool index_rows);

extern void gpusort_portions_free(GpuSortPortions *portions);

/*
 * Returns which portion has the row at a position, if portions begin at the positions first[0 ..
 * count - 1].
 */
extern uint32 gpusort_find_portion(const uint64 *first, uint32 count, uint64 position);

static inline uint32
gpusort_portions_find(const GpuSortPortions *portions, uint64 position)
{
	return gpusort_find_portion(portions->first, portions->count, position);
}

/* Splits a portion into two.  Returns false if that is impossible, since it has only one row. */
extern bool gpusort_portions_split(GpuSortPortions *portions, uint32 number);

/*
 * Returns a copy of the first tuple behind a portion, valid until the next call, or NULL if there
 * is none.
 */
extern void *gpusort_portions_tuple_behind(GpuSortPortions *portions, uint32 number);

static inline const GpuSortRunPlace *
gpusort_portion_cuts(const GpuSortPortions *portions, uint32 number)
{
	return portions->cuts + (size_t) number * portions->nruns;
}

#endif							/* GPUSORT_RUN_PORTIONS_H */
