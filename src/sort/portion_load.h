/*
 * portion_load.h
 *		Loading one portion of runs into memory, in order.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PORTION_LOAD_H
#define GPUSORT_PORTION_LOAD_H

#include "runs/runs.h"
#include "sort/sort.h"

/*
 * Replaces the rows of a sort by those of a portion, and sorts them.  The portion is what lies
 * between from[i] and to[i] of each run runs[i].  Returns false if there is no memory for it.
 */
extern bool gpusort_portion_load(GpuSort *sort, const GpuSortRun **runs, uint32 nruns,
								 const GpuSortRunPlace *from, const GpuSortRunPlace *to);

#endif							/* GPUSORT_PORTION_LOAD_H */
