/*
 * plan_pair.h
 *		Two relations that the planner joins, and whether ways of ours might pay.
 *
 * In a query of many tables most pairs are not worth a look: so what is cheap to find out is asked
 * first, for all ways together.
 */
#ifndef GPUSORT_PLAN_PAIR_H
#define GPUSORT_PLAN_PAIR_H

#include "nodes/pathnodes.h"

#include "pg_compat/paths.h"

typedef struct GpuSortPair
{
	GpuSortMergeJoin join;		/* inputs, clauses and pathkeys are left to those who make paths */
	JoinPathExtraData extra;	/* with the clauses that could be merged by, which is not NIL */
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *orders;			/* pathkeys that the outer side could be merged by */

	/* could these cost less than what there is? */
	bool		both_sorted;	/* merging all rows, sorted by us */
	bool		outer_sorted;	/* ... the outer side's only, the inner one comes in order */
	bool		inner_sorted;	/* ... the other way round */
	bool		partial;		/* merging a participant's rows */

	/* without sorting them, both sides must cost less than the cheapest join that there is does in truth */
	Cost		most_of_inputs;
} GpuSortPair;

/*
 * The arguments are set_join_pathlist_hook's.  False if nothing of ours pays.  A semijoin that is made by the
 * planner in other ways, too, after it was made as such, with the sides exchanged, or as a join with inner rows made
 * unique, is one all the same: ours are offered once more, against these.
 */
extern bool gpusort_look_at_pair(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinType jointype,
								 const JoinPathExtraData *extra, GpuSortPair *pair);

/*
 * The clauses that could be merged by, as the planner finds them for its own merge joins; not if
 * these are switched off.
 */
extern List *gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
									   const RelOptInfo *innerrel);

/*
 * Might the relation keep a path without parameters of these costs, pathkeys and workers, a partial one if it has
 * some?  add_path() refuses it else.
 */
extern bool gpusort_might_be_kept(const RelOptInfo *rel, const Path *path);

/* The same of a join of these inputs and pathkeys, which costs so much at least, and may have its cost lowered. */
extern bool gpusort_join_might_be_kept(const GpuSortMergeJoin *join, Cost startup_cost, Cost total_cost);

#endif							/* GPUSORT_PLAN_PAIR_H */
