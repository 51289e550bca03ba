/*
 * plan_shared.h
 *		The plan node "Parallel Custom Scan (GpuSort Shared)".
 *
 *		Gather
 *		  -> MergeJoin								Gather
 *		    -> a participant's own outer rows		  -> WindowAgg
 *		    -> GpuSort Shared, all rows to each		    -> GpuSort Shared, sliced
 *		      -> partial plan						      -> partial plan
 *
 * The participants of a Gather collect the rows of a partial plan, one of them sorts
 * all of these, and then each reads the result (shared_sort.c).  It returns either all
 * rows to every participant, or slices: each row goes to one participant, each
 * participant's rows are in order, and rows that are equal in the first so many sort
 * columns all go to the same one.
 *
 * Before it returns its first row, the node waits for the participants that are still
 * reading its input; these return no row meanwhile, so they never wait for the Gather.
 * Nothing but the Gather may rescan it, since the input of all participants would have to
 * be read again: it can't be on the inner side of a nested loop.
 */
#ifndef GPUSORT_PLAN_SHARED_H
#define GPUSORT_PLAN_SHARED_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "cost/cost.h"

/* A sort of a partial path's rows by all participants of a parallel plan. */
typedef struct GpuSortSharedSort
{
	Path	   *partial;
	List	   *pathkeys;
	double		all_rows;		/* of all participants together */
	int			slice_columns;	/* so many leading pathkeys are not cut; 0: all rows go to
								 * each participant */
	GpuSortEstimate estimate;	/* by gpusort_shared_worth_it() */
} GpuSortSharedSort;

/* May there be shared sorts?  Asked first, since it is cheap. */
extern bool gpusort_plans_shared(void);

/* Whether a path for the sort is worth being made; fills in its estimate. */
extern bool gpusort_shared_worth_it(PlannerInfo *root, GpuSortSharedSort *sort);

/* A path of rel that sorts.  It can be part of a partial path; sliced, it is one. */
extern Path *gpusort_make_shared_path(PlannerInfo *root, RelOptInfo *rel,
									  const GpuSortSharedSort *sort);

/* The leading sort columns that slices don't cut; 0: all rows to each participant. */
extern int	gpusort_slice_columns(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_SHARED_H */
