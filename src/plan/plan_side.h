/*
 * plan_side.h
 *		A side of joins: what is found out about sorting a relation's rows, once.
 *
 * A relation is joined with others many times while the planner searches for the best order of
 * joins, and sorted by the same few columns.  What sorting it costs is estimated, and the path
 * made, when it is first wanted.
 */
#ifndef GPUSORT_PLAN_SIDE_H
#define GPUSORT_PLAN_SIDE_H

#include "nodes/pathnodes.h"

#include "plan/plan_shared.h"

/* Returns whether the relation has so many rows that sorting them is considered at all. */
extern bool gpusort_has_many_rows(const RelOptInfo *rel);

/* What a relation's rows cost at least; DBL_MAX if they can't be had in that way. */
typedef struct GpuSortLeastCosts
{
	Cost		sorted;			/* sorted by us, by any columns */
	Cost		in_order;		/* in some order, without a sort of ours */
	Cost		partial;		/* a participant's share of them in some order, sorted or not */
} GpuSortLeastCosts;

/* Returns what the relation's rows cost at least. */
extern const GpuSortLeastCosts *gpusort_side_least_costs(PlannerInfo *root, RelOptInfo *rel);

/* A relation and the pathkeys by which its rows are to be sorted. */
typedef struct GpuSortSide GpuSortSide;

/*
 * Returns a relation's side for these pathkeys.  The relation's cheapest paths must have been
 * found.  The side is kept in the relation's memory context, as long as the relation is there.
 */
extern GpuSortSide *gpusort_side(PlannerInfo *root, RelOptInfo *rel, List *pathkeys);

/*
 * Returns the cheapest path above a sort of ours, or NULL: if there is none, or the relation's
 * cheapest path is in order already.
 */
extern Path *gpusort_side_sorted(GpuSortSide *side);

/*
 * Returns the sort of a partial path's rows by all participants, which returns all rows to each, or
 * NULL if it is not worth it.
 */
extern const GpuSortSharedSort *gpusort_side_shared(GpuSortSide *side, Path *partial);

/* Returns the path of such a sort. */
extern Path *gpusort_side_shared_path(GpuSortSide *side, const GpuSortSharedSort *sort);

/*
 * Returns a scan of a table by so many workers, although the planner has found the table to be too
 * small for any.
 */
extern Path *gpusort_side_scan(GpuSortSide *side, int workers);

/*
 * Returns a partial path's rows, sorted by each participant for itself, or NULL if that is not
 * worth it.
 */
extern Path *gpusort_side_participants_path(GpuSortSide *side, Path *partial);

#endif							/* GPUSORT_PLAN_SIDE_H */
