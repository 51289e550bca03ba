/*
 * plan_estimate.h
 *		Estimates of sorts in plans: of a path's rows, and of a finished plan's Sort.
 */
#ifndef GPUSORT_PLAN_ESTIMATE_H
#define GPUSORT_PLAN_ESTIMATE_H

#include "nodes/plannodes.h"

#include "plan/plan_pathkeys.h"
#include "stats/stats.h"

/*
 * How many rows of a finished plan's Sort will be fetched.
 *
 * rows is that number, GPUSORT_NO_LIMIT, or 0 if the limit is not known yet.  is_told says that a
 * node of ours in the Sort's place is told the limit when it begins (exec/exec_bound.c).  all_read
 * says that there is no limit, and no node above is known that might stop before the last row.
 * kind is what the nodes above want the order for.
 */
typedef struct GpuSortLimit
{
	double		rows;
	bool		is_told;
	bool		all_read;
	GpuSortKind kind;
} GpuSortLimit;

/*
 * Estimates a sort of an input path's rows, which will be told the limit if there is one.  Returns
 * false if the sort is not to be taken over.
 */
extern bool gpusort_estimate_path(PlannerInfo *root, const Path *input,
								  GpuSortPathKeys *keys, double limit_rows,
								  GpuSortEstimate *estimate);

/*
 * Returns what a relation's rows cost at least until they are sorted by us, whoever collects them,
 * with what is below the sort, and row_cost more for each row.  Returning the rows is left out,
 * since a Unique above does not want all.
 */
extern Cost gpusort_least_sorted_cost(const RelOptInfo *rel, List *pathkeys, Cost row_cost);

/*
 * Returns why a Sort of a finished plan is left to PostgreSQL, for its sort columns, its size or
 * its limit (as gpusort_worth_it()), or NULL if it may be taken over.  *estimate is filled in
 * unless the sort columns are the reason.
 */
extern const char *gpusort_reason_to_leave(const Sort *sort, GpuSortLimit limit,
										   const PlannedStmt *stmt, GpuSortEstimate *estimate);

/* Returns what PostgreSQL's sort of the rows costs, without its input. */
extern Cost gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate,
							  const List *rtable);

#endif							/* GPUSORT_PLAN_ESTIMATE_H */
