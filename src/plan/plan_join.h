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
 * It is a merge join of two sorts, whose results it reads by position (src/join).  In a parallel
 * plan all participants sort both sides together, and each joins pieces of them.
 *
 * While the planner works, the node stands above a MergeJoin of the same inputs, so that what
 * belongs to joins (which clauses, which columns at which level of outer joins) is left to the
 * planner.  When the plan is finished, the node takes the MergeJoin's place.
 */
#ifndef GPUSORT_PLAN_JOIN_H
#define GPUSORT_PLAN_JOIN_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "plan/plan_pair.h"

/* The elements of the list of integers that is custom_private's only element. */
typedef enum GpuSortJoinPrivate
{
	GPUSORT_JOIN_TYPE,
	GPUSORT_JOIN_INNER_UNIQUE
} GpuSortJoinPrivate;

/*
 * The elements of custom_exprs: lists of clauses, in which OUTER_VAR and INNER_VAR stand for the
 * children's columns.
 */
typedef enum GpuSortJoinExprs
{
	GPUSORT_JOIN_CLAUSES,		/* one for each sort column, the outer side on the left */
	GPUSORT_JOIN_FILTER,		/* further conditions of the join itself */
	GPUSORT_JOIN_OTHER			/* conditions on what the join returns */
} GpuSortJoinExprs;

/* Adds the paths of GpuSort Joins of a pair of relations. */
extern void gpusort_add_join_paths(const GpuSortPair *pair);

/*
 * Adds the path of a node of ours that will take the place of a merge join of these inputs: a
 * GpuSort Join, or a GpuSort Index Join above two indexes.  It gets the rows, costs, pathkeys and
 * workers of *path, and is a partial path if it has workers.  No path is made if it would not be
 * kept.
 */
extern void gpusort_add_unfinished_join(const GpuSortMergeJoin *merge, Path *path);

/*
 * Brings the node of a finished plan into its final form.  What it returns is in custom_scan_tlist,
 * in terms of its children; its target list has those columns, one to one.
 */
extern Plan *gpusort_finish_join(CustomScan *scan);

#endif							/* GPUSORT_PLAN_JOIN_H */
