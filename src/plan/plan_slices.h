/*
 * plan_slices.h
 *		What plans above slices of a sort have in common.
 *
 *		Gather
 *		  -> WindowAgg, GroupAggregate
 *		    -> GpuSort Shared, sliced by leading columns of PARTITION BY, GROUP BY
 *		      -> partial path
 *
 * A node that looks at one group of rows at a time, and gets it in order, does its work
 * in every participant if slices cut no group.  Such plans are the planner's own serial
 * ones with another input: its nodes are copied, and the sort below the lowest one
 * exchanged for the shared one.
 */
#ifndef GPUSORT_PLAN_SLICES_H
#define GPUSORT_PLAN_SLICES_H

#include <float.h>

#include "nodes/pathnodes.h"

/* A shared sort that is cut, of the cheapest partial path of a relation. */
typedef struct GpuSortSlices
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* upper relation that the paths are for */
	double		groups;			/* that are not cut; 0 if statistics are to tell */
	Path	   *sort;
	double		all_rows;
	double		fraction;		/* of all rows: what one participant gets on average */
	double		share;			/* ... the busiest one, which has at least a whole group */
} GpuSortSlices;

/* How many of the pathkeys stand for one of these sort or group clauses, the first ones. */
extern int	gpusort_count_leading_keys(PlannerInfo *root, List *clauses, List *pathkeys);

/*
 * Fill in all but root, rel and groups, if that can be had for so many leading pathkeys, and is
 * worth it.
 */
extern bool gpusort_make_slices(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
								int slice_columns);

/*
 * Adapt a copied path to its new input.  What the node itself costs is shared by the
 * participants; all other fields but those of Path are the caller's.
 */
extern void gpusort_share_path(const GpuSortSlices *slices, Path *copy, const Path *old_input,
							   Path *input);

/*
 * Offer a partial path, which make() makes of a copy each time, to the upper relation, if that is
 * possible; and return, to be added, paths with a Gather on top of it, whose cost is lowered by
 * saved: a List of Path.  *cost is what that costs if each row through the Gather costs what it
 * takes.
 */
typedef Path *(*GpuSortMakePath) (const GpuSortSlices *slices, const void *original);
extern List *gpusort_offer_sliced(const GpuSortSlices *slices, GpuSortMakePath make,
								  const void *original, Cost saved, Cost *cost);

/* The cost where no slices are offered. */
#define GPUSORT_NO_SLICES	DBL_MAX

/* Those of the leader's own paths, a List of Path, that cost less than slices do. */
extern List *gpusort_cheaper_paths(List *paths, Cost sliced);

#endif							/* GPUSORT_PLAN_SLICES_H */
