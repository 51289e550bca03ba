/*
 * plan_slices.h
 *		What plans above slices of a sort have in common.
 *
 *		Gather
 *		  -> WindowAgg, GroupAggregate
 *		    -> GpuSort Shared, sliced by leading columns of PARTITION BY, GROUP BY
 *		      -> partial path
 *
 * A node that looks at one group of rows at a time, and gets the groups in order, does its work in
 * every participant if no slice cuts a group.  Such plans are the planner's own serial ones with
 * another input: their nodes are copied, and the sort below the lowest of them is exchanged for the
 * shared one.
 */
#ifndef GPUSORT_PLAN_SLICES_H
#define GPUSORT_PLAN_SLICES_H

#include <float.h>

#include "nodes/pathnodes.h"

/* A shared sort of the cheapest partial path of a relation, whose result is cut into slices. */
typedef struct GpuSortSlices
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* upper relation that the paths are for */
	/* number of groups that slices don't cut; 0 if statistics are to tell */
	double		groups;
	Path	   *sort;
	double		all_rows;
	double		fraction;		/* share of all rows that a participant gets on average */
	/* share of all rows that the busiest participant gets, which is at least one group */
	double		share;
} GpuSortSlices;

/* Returns how many leading pathkeys stand for one of these sort or group clauses each. */
extern int	gpusort_count_leading_keys(PlannerInfo *root, List *clauses, List *pathkeys);

/*
 * Fills in all but root, rel and groups.  Returns false if there is no shared sort whose slices
 * leave so many leading pathkeys together, or it is not worth it.
 */
extern bool gpusort_make_slices(GpuSortSlices *slices, RelOptInfo *input_rel, List *pathkeys,
								int slice_columns);

/*
 * Adapts a copied path to its new input: what the node itself costs is divided among the
 * participants.  All fields but those of Path are left to the caller.
 */
extern void gpusort_share_path(const GpuSortSlices *slices, Path *copy, const Path *old_input,
							   Path *input);

/*
 * Offers a partial path above slices to the upper relation, if that is possible, and returns paths
 * with a Gather above it, a List of Path, for the caller to add.
 *
 * make() makes the partial path from `original`, each time that one is needed.  The cost of a
 * Gather is lowered by saved.  *cost becomes what the path with the Gather costs if each row is
 * charged what it takes in a Gather.
 */
typedef Path *(*GpuSortMakePath) (const GpuSortSlices *slices, const void *original);
extern List *gpusort_offer_sliced(const GpuSortSlices *slices, GpuSortMakePath make,
								  const void *original, Cost saved, Cost *cost);

/* The cost if no slices are offered. */
#define GPUSORT_NO_SLICES	DBL_MAX

/* Returns those of the leader's own paths, a List of Path, that cost less than slices do. */
extern List *gpusort_cheaper_paths(List *paths, Cost sliced);

#endif							/* GPUSORT_PLAN_SLICES_H */
