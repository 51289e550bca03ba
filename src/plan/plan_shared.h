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
 * The participants of a Gather collect the rows of a partial plan, one of them sorts all of these,
 * with the help of the others if that pays, and then each reads the result (shared_sort.c).  The
 * node returns either all rows to every participant, or slices: each row goes to one participant,
 * each participant's rows are in order, and rows that are equal in the first slice_columns sort
 * columns all go to the same participant.
 *
 * Before the node returns its first row, it waits for the participants that are still reading its
 * input.  These return no row meanwhile, so they never wait for the Gather.  Nothing but the Gather
 * may rescan the node, since all participants would have to read their input again: so it can't be
 * on the inner side of a nested loop.
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
	double		all_rows;		/* number of rows of all participants together */
	/*
	 * rows that are equal in so many leading pathkeys are in one slice; 0 if all rows go to each
	 * participant
	 */
	int			slice_columns;
	GpuSortEstimate estimate;	/* filled in by gpusort_shared_worth_it() */
} GpuSortSharedSort;

/* Returns whether there may be shared sorts at all, which is cheap to ask first. */
extern bool gpusort_plans_shared(void);

/* Returns whether it is worth making a path for the sort, and fills in its estimate. */
extern bool gpusort_shared_worth_it(PlannerInfo *root, GpuSortSharedSort *sort);

/*
 * Makes a path of rel for the sort.  It can be part of a partial path; if it is sliced, it is one.
 */
extern Path *gpusort_make_shared_path(PlannerInfo *root, RelOptInfo *rel,
									  const GpuSortSharedSort *sort);

/*
 * Returns the number of leading sort columns that slices don't cut; 0 if all rows go to each
 * participant.
 */
extern int	gpusort_slice_columns(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_SHARED_H */
