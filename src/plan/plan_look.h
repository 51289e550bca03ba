/*
 * plan_look.h
 *		The sorts of a finished plan, taken over or not, and why: what EXPLAIN and gpusort_advise()
 *		tell of them.
 */
#ifndef GPUSORT_PLAN_LOOK_H
#define GPUSORT_PLAN_LOOK_H

#include "nodes/plannodes.h"

#include "plan/plan_estimate.h"

typedef struct GpuSortLook
{
	const Plan *plan;			/* a node that sorts, a Sort or one of ours; or an Agg that does, a
								 * MergeAppend, or one that has a hash table instead */
	const Sort *sort;			/* by what; NULL: within an Agg, or a join's */
	GpuSortKind kind;
	const char *reason;			/* why it is PostgreSQL's; NULL: it is taken over */
	bool		has_costs;		/* of the sort alone, without its input: */
	Cost		core_cost;
	Cost		cost;
} GpuSortLook;

/* The setting that would change a reason, or NULL. */
extern const char *gpusort_setting_for(const char *reason);

/* Look at a Sort that is left for this reason, or another node, or at one of ours. */
extern GpuSortLook *gpusort_look_at_left(const Sort *sort, GpuSortLimit limit,
										 const PlannedStmt *stmt, const char *reason,
										 const GpuSortEstimate *estimate);
extern GpuSortLook *gpusort_look_at_plan(const Plan *plan, const Sort *sort, GpuSortKind kind,
										 const char *reason);
extern GpuSortLook *gpusort_look_at_node(const CustomScan *scan, GpuSortLimit limit,
										 const PlannedStmt *stmt);

#endif							/* GPUSORT_PLAN_LOOK_H */
