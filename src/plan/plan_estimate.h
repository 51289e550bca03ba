/*
 * plan_estimate.h
 *		Estimates of sorts in plans: of a path's rows, and of a finished plan's Sort.
 */
#ifndef GPUSORT_PLAN_ESTIMATE_H
#define GPUSORT_PLAN_ESTIMATE_H

#include "nodes/plannodes.h"

#include "plan/plan_pathkeys.h"
#include "stats/sort_kind.h"

/*
 * The rows of a finished plan's Sort that will be fetched: GPUSORT_NO_LIMIT, or 0 if that is not
 * known yet.  is_told: so will be a node of ours, when it begins (exec/exec_bound.c).  all_read:
 * there is no limit, and nothing above is known that might stop before the last row.  kind: what
 * is above wants the rows in order for this.
 */
typedef struct GpuSortLimit
{
	double		rows;
	bool		is_told;
	bool		all_read;
	GpuSortKind kind;
} GpuSortLimit;

/*
 * Estimate a sort of an input path's rows; false if it is not to be taken over.  It is told
 * the limit if there is one.
 */
extern bool gpusort_estimate_path(PlannerInfo *root, const Path *input,
								  GpuSortPathKeys *keys, double limit_rows,
								  GpuSortEstimate *estimate);

/*
 * What a relation's rows cost at least until they are sorted by us, whoever collects them, with what is below and
 * row_cost more for each.  Returning them is left out: a Unique above does not want all.
 */
extern Cost gpusort_least_sorted_cost(const RelOptInfo *rel, List *pathkeys, Cost row_cost);

/*
 * Why a Sort of a finished plan is left to PostgreSQL for its kind, size or limit (as
 * gpusort_worth_it() has it), or NULL if it may be taken over.  *estimate is filled in
 * unless its kind is the reason.
 */
extern const char *gpusort_reason_to_leave(const Sort *sort, GpuSortLimit limit,
										   const PlannedStmt *stmt, GpuSortEstimate *estimate);

/* What PostgreSQL's sort of the rows costs, its input apart. */
extern Cost gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate,
							  const List *rtable);

#endif							/* GPUSORT_PLAN_ESTIMATE_H */
