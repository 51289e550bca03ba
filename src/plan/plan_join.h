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

#include "plan/plan_pair.h"

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

extern void gpusort_add_join_paths(const GpuSortPair *pair);

/*
 * Add a path above a merge join of these inputs, in whose place a node of ours will be: what that is
 * depends on the inputs.  It gets the rows, costs, pathkeys and workers of *path, and is a partial path if it has
 * workers.  None is made that would not be kept.
 */
extern void gpusort_add_unfinished_join(const GpuSortMergeJoin *merge, Path *path);

/*
 * In a finished plan: the node in its final form.  What it returns is in custom_scan_tlist, in
 * terms of its children; its target list are those columns, one to one.
 */
extern Plan *gpusort_finish_join(CustomScan *scan);

#endif							/* GPUSORT_PLAN_JOIN_H */
