/*
 * plan_side.h
 *		A side of joins: what is found out about sorting a relation's rows, once.
 *
 * A relation is joined with others many times while the planner searches for the best order of
 * joins, and sorted by the same few columns.  What that takes is estimated, and the path made, when it
 * is first wanted.
 */
#ifndef GPUSORT_PLAN_SIDE_H
#define GPUSORT_PLAN_SIDE_H

#include "nodes/pathnodes.h"

#include "plan/plan_shared.h"

/* Is a sort of the relation's rows thought of at all? */
extern bool gpusort_has_many_rows(const RelOptInfo *rel);

/* What a relation's rows cost at least; DBL_MAX where they can't be had so. */
typedef struct GpuSortLeastCosts
{
	Cost		sorted;			/* by us, whatever by */
	Cost		in_order;		/* in some order without */
	Cost		partial;		/* a participant's share of them, in some order */
} GpuSortLeastCosts;

extern const GpuSortLeastCosts *gpusort_side_least_costs(PlannerInfo *root, RelOptInfo *rel);

/* A relation's rows in an order. */
typedef struct GpuSortSide GpuSortSide;

/*
 * It is kept in the relation's memory context, as long as the relation is there, whose cheapest paths
 * have been found.
 */
extern GpuSortSide *gpusort_side(PlannerInfo *root, RelOptInfo *rel, List *pathkeys);

/* The cheapest path above a sort of ours; NULL if there is none, or the cheapest is in order. */
extern Path *gpusort_side_sorted(GpuSortSide *side);

/*
 * The sort of a partial path's rows by all participants, all rows to each, and its path; NULL if it is not
 * worth it.
 */
extern const GpuSortSharedSort *gpusort_side_shared(GpuSortSide *side, Path *partial);
extern Path *gpusort_side_shared_path(GpuSortSide *side, const GpuSortSharedSort *sort);

/* A scan of a table by so many workers, which the planner has found to be too small for any. */
extern Path *gpusort_side_scan(GpuSortSide *side, int workers);

/* A partial path's rows, sorted by each participant for itself; NULL if that is not worth it. */
extern Path *gpusort_side_participants_path(GpuSortSide *side, Path *partial);

#endif							/* GPUSORT_PLAN_SIDE_H */
