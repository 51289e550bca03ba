/*
 * plan_join.h
 *		The plan node "Custom Scan (GpuSort Join)".
 *
 *		Gather											Custom Scan (GpuSort Join)
 *		  -> Parallel Custom Scan (GpuSort Join)		  -> Custom Scan (GpuSort)
 *		    -> GpuSort Shared, all rows to each			    -> path
 *		      -> partial path							  -> Custom Scan (GpuSort)
 *		    -> GpuSort Shared, all rows to each			    -> path
 *		      -> partial path
 *
 * A merge join of two sorts, whose results it reads by position (src/join).  In a parallel plan all
 * participants sort both sides together, and each joins pieces of them.
 *
 * While the planner works, it is a node above a MergeJoin of the same inputs, so that what belongs
 * to joins (which clauses, which columns at which level of outer joins) stays the planner's.  When
 * the plan is finished it takes the MergeJoin's place.
 */
#ifndef GPUSORT_PLAN_JOIN_H
#define GPUSORT_PLAN_JOIN_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "pg_compat/paths.h"

/* What custom_private's only element, a list of integers, has. */
typedef enum GpuSortJoinPrivate
{
	GPUSORT_JOIN_TYPE,
	GPUSORT_JOIN_INNER_UNIQUE
} GpuSortJoinPrivate;

/* ... and custom_exprs: lists of clauses, in which OUTER_VAR and INNER_VAR are the children's. */
typedef enum GpuSortJoinExprs
{
	GPUSORT_JOIN_CLAUSES,		/* one for each sort column, the outer side on the left */
	GPUSORT_JOIN_FILTER,		/* further ones of the join itself */
	GPUSORT_JOIN_OTHER			/* of what it returns */
} GpuSortJoinExprs;

extern void gpusort_add_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								   RelOptInfo *innerrel, JoinType jointype,
								   JoinPathExtraData *extra);

/*
 * The clauses that could be merged by, as the planner finds them for its own merge joins; not if
 * these are switched off.
 */
extern List *gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
									   const RelOptInfo *innerrel);

/*
 * Is the planner at making a semijoin in another way, after it was made as such: with the sides exchanged,
 * or as a join with inner rows made unique?  Then it is one of these relations, and ours are offered once more,
 * against these.
 */
extern bool gpusort_becomes_semijoin(PlannerInfo *root, JoinType *jointype, RelOptInfo **outerrel,
									 RelOptInfo **innerrel, const SpecialJoinInfo *sjinfo);

/*
 * A path above a merge join of these inputs, in whose place a node of ours will be: what that is
 * depends on the inputs.  Its costs are the merge join's.
 */
extern CustomPath *gpusort_make_unfinished_join(GpuSortMergeJoin *merge);

/*
 * In a finished plan: the node in its final form.  What it returns is in custom_scan_tlist, in
 * terms of its children; its target list are those columns, one to one.
 */
extern Plan *gpusort_finish_join(CustomScan *scan);

#endif							/* GPUSORT_PLAN_JOIN_H */
