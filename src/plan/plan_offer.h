/*
 * plan_offer.h
 *		Offering paths to the planner, which has charged too little for some of its own.
 *
 * Where ours costs less than such a path in truth, its cost is put below what that was charged,
 * and only then: against all others it competes by what it costs.
 */
#ifndef GPUSORT_PLAN_OFFER_H
#define GPUSORT_PLAN_OFFER_H

#include "nodes/pathnodes.h"

/*
 * Rows that are put into groups, or made distinct, by these pathkeys.  Hash tables of theirs are
 * charged too little, and more so where the paths beside them have Agg nodes.
 */
typedef struct GpuSortGroupedRows
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* of the groups */
	RelOptInfo *input_rel;		/* of the rows */
	List	   *pathkeys;
	double		groups;			/* expected; 0: no such number is known */
	bool		groups_known;	/* by statistics, not guessed */
	bool		have_agg;

	/* paths above sorts of ours */
	List	   *order;			/* of the sorts */
	Cost		row_cost;		/* charged for each of the rows that they return, at least */
} GpuSortGroupedRows;

/*
 * Might a path above a sort of this relation's rows, all of them or what workers have made of
 * theirs, be kept among those that there are?  These are charged so much less than they take
 * (lacking), apart from what their hash tables lack.
 */
extern bool gpusort_groups_might_be_kept(const GpuSortGroupedRows *grouped,
										 const RelOptInfo *sorted_rel, Cost lacking);

/*
 * Offer paths above sorts of a relation's rows, Lists of Path: the leader's own, and those above
 * slices.  The leader's are left out if workers are faster: the planner would charge these for
 * their rows what kept them from returning any.  Their costs are lowered if those of hash tables
 * have been charged too little; by no number of groups, 0, nothing is known to be.  All are made
 * before the first is added, which may free a path of the planner's that others are copies of.
 */
extern void gpusort_offer_paths(const GpuSortGroupedRows *grouped, List *own, List *sliced,
								Cost sliced_cost);

/*
 * Offer paths beside those of a relation that lack so much, all of them that are computed here,
 * and so do those that were left out: with them a server that others ask for its costs would have
 * named less.
 */
extern void gpusort_offer_beside(RelOptInfo *rel, const List *paths, const List *left_out,
								 Cost lacking);

/*
 * What the cheapest one of joins without parameters, which comes first, costs in truth: a hash
 * join's cost leaves out waiting for its table.  DBL_MAX if there is none to compare with.
 */
extern Cost gpusort_join_in_truth(const List *paths);

/*
 * If that is more than a join of ours costs, which is not added yet, put that just below what the
 * cheapest one was charged: of the partial paths, if it has workers.  It hides what our join
 * costs from joins that are planned above, which may mislead these, so it is done only where more
 * is gained than is hidden, or no other join is in the query.  Then it is enough, too, that it
 * costs less than others and a sort above them, if that is all that the query wants of it.
 */
extern void gpusort_outbid_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path);

/* Add a join's path as it is, which is a partial one if it has workers; or do both. */
extern void gpusort_add_join(RelOptInfo *joinrel, Path *path);
extern void gpusort_offer_join(PlannerInfo *root, RelOptInfo *joinrel, Path *path);

/* The path of a GpuSort Join, which remembers what it costs, whatever the planner is told. */
typedef struct GpuSortJoinPath
{
	CustomPath	custom;
	Cost		cost;
} GpuSortJoinPath;

#endif							/* GPUSORT_PLAN_OFFER_H */
