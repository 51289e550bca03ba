/*
 * run_portions.h
 *		Dividing sorted runs into portions: ranges of the order that fit into memory.
 *
 * A portion is one stretch of each run.  All rows of a portion come before those of the next, by
 * PostgreSQL's own comparison; rows that are equal by it in the order of their runs, and
 * of their places there.  So portions may be sorted one at a time, in any way that agrees with the
 * comparison, and in any order.
 *
 * Portions can be made of whole groups: rows that are equal in the first columns are in the same
 * one, however many they are.  It may be split nevertheless.
 *
 * Published (distribution sort with splitters from samples of sorted runs: Shi and Schaeffer, PSRS,
 * 1992); cuts are exact, whatever the samples say.
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
	uint32		size;			/* arrays have room for so many and one more */
	GpuSortRunPlace *cuts;		/* [portion][run]: where it begins; nruns for each portion, and
								 * the ends */
	uint64	   *first;			/* position of each portion's first row; and behind the last one */
} GpuSortPortions;

/* What a portion may hold. */
typedef struct GpuSortPortionLimits
{
	uint64		bytes;
	size_t		row_bytes;		/* that each row counts for beside those in the run */
	size_t		sample_bytes;	/* memory that finding the cuts may take */
	int			group_columns;	/* equal in so many columns: in the same portion; 0: any cut will do */
	uint64		min_rows;		/* of each portion, if there are several */
} GpuSortPortionLimits;

/* Divide the runs, which must live as long.  In a context below the current one. */
extern GpuSortPortions *gpusort_portions_make(const GpuSortRun **runs, uint32 nruns, TupleDesc desc,
											  const GpuSortRowKeys *keys, bool index_rows,
											  const GpuSortPortionLimits *limits);

/*
 * One portion of runs that were divided in another process: what lies between two places of each.
 * The same otherwise.
 */
extern GpuSortPortions *gpusort_portions_make_one(const GpuSortRun **runs, uint32 nruns,
												  const GpuSortRunPlace *from,
												  const GpuSortRunPlace *to, TupleDesc desc,
												  const GpuSortRowKeys *keys, bool index_rows);

extern void gpusort_portions_free(GpuSortPortions *portions);

/* Of portions that begin at such positions, the one that has the row at a position. */
extern uint32 gpusort_find_portion(const uint64 *first, uint32 count, uint64 position);

static inline uint32
gpusort_portions_find(const GpuSortPortions *portions, uint64 position)
{
	return gpusort_find_portion(portions->first, portions->count, position);
}

/* Make two portions of one; false if it has one row. */
extern bool gpusort_portions_split(GpuSortPortions *portions, uint32 number);

/* A copy of the first tuple behind a portion, valid until the next call; NULL: it is the last. */
extern void *gpusort_portions_tuple_behind(GpuSortPortions *portions, uint32 number);

static inline const GpuSortRunPlace *
gpusort_portion_cuts(const GpuSortPortions *portions, uint32 number)
{
	return portions->cuts + (size_t) number * portions->nruns;
}

#endif							/* GPUSORT_RUN_PORTIONS_H */
