/*
 * plan_pair.h
 *		Two relations that the planner joins, and whether ways of ours might pay.
 *
 * In a query of many tables most pairs are not worth a look.  So whatever is cheap to find out is
 * asked first, for all ways together.
 */
#ifndef GPUSORT_PLAN_PAIR_H
#define GPUSORT_PLAN_PAIR_H

#include "nodes/pathnodes.h"

#include "pg_compat/paths.h"

typedef struct GpuSortPair
{
	/* inputs, clauses and pathkeys are left to the callers, which make the paths */
	GpuSortMergeJoin join;
	/* its mergeclause_list, which is not NIL, has the clauses that could be merged by */
	JoinPathExtraData extra;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *orders;			/* pathkeys that the outer side could be merged by */

	/* might these ways cost less than the joins that there are? */
	bool		both_sorted;	/* merging all rows, both sides sorted by us */
	/* merging all rows, the outer side sorted by us, the inner one in order already */
	bool		outer_sorted;
	/* merging all rows, the inner side sorted by us, the outer one in order already */
	bool		inner_sorted;
	bool		partial;		/* merging each participant's rows */

	/*
	 * the inputs of both sides must cost less than this without being sorted: the real cost of the
	 * cheapest join that there is
	 */
	Cost		most_of_inputs;
} GpuSortPair;

/*
 * Looks at two relations, given by set_join_pathlist_hook's arguments, and fills in *pair.  Returns
 * false if no join of ours pays.
 *
 * After the planner has called the hook for a semijoin, it calls it again for other ways to make
 * the same semijoin: with the sides exchanged, or as a join with the inner rows made unique.  *pair
 * is the semijoin each time, so that our paths are offered once more and compete with those, too.
 */
extern bool gpusort_look_at_pair(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								 RelOptInfo *innerrel, JoinType jointype,
								 const JoinPathExtraData *extra, GpuSortPair *pair);

/*
 * Returns the clauses that could be merged by, as the planner finds them for its own merge joins;
 * the planner has none if these are switched off.
 */
extern List *gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
									   const RelOptInfo *innerrel);

/*
 * Returns whether the relation might keep a path without parameters that has these costs, pathkeys
 * and workers; it is a partial path if it has workers.  If not, add_path() would refuse the path.
 */
extern bool gpusort_might_be_kept(const RelOptInfo *rel, const Path *path);

/*
 * Returns the same for a join of these inputs and pathkeys that costs at least so much.  Its cost
 * may be lowered (gpusort_outbid_join()).
 */
extern bool gpusort_join_might_be_kept(const GpuSortMergeJoin *join, Cost startup_cost,
									   Cost total_cost);

#endif							/* GPUSORT_PLAN_PAIR_H */
