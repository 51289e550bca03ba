/*
 * plan_look.h
 *		The sorts of a finished plan, taken over or not, and why: what EXPLAIN and
 *		gpusort_advise() tell of them.
 */
#ifndef GPUSORT_PLAN_LOOK_H
#define GPUSORT_PLAN_LOOK_H

#include "nodes/plannodes.h"

#include "plan/plan_estimate.h"

typedef struct GpuSortLook
{
	/*
	 * a node that sorts: a Sort, one of ours, an Agg that sorts within itself, or a MergeAppend; or
	 * a node that has a hash table instead
	 */
	const Plan *plan;
	/* what the node sorts by; NULL if it is an Agg that sorts within itself, or a join */
	const Sort *sort;
	GpuSortKind kind;
	const char *reason;			/* why it is left to PostgreSQL; NULL if it is taken over */
	/* core_cost and cost are known, of the sort alone, without its input */
	bool		has_costs;
	Cost		core_cost;
	Cost		cost;
} GpuSortLook;

/* Returns the setting that would change a reason, or NULL. */
extern const char *gpusort_setting_for(const char *reason);

/* Look at a Sort that is left for this reason; at another node; and at a node of ours. */
extern GpuSortLook *gpusort_look_at_left(const Sort *sort, GpuSortLimit limit,
										 const PlannedStmt *stmt, const char *reason,
										 const GpuSortEstimate *estimate);
extern GpuSortLook *gpusort_look_at_plan(const Plan *plan, const Sort *sort, GpuSortKind kind,
										 const char *reason);
extern GpuSortLook *gpusort_look_at_node(const CustomScan *scan, GpuSortLimit limit,
										 const PlannedStmt *stmt);

#endif							/* GPUSORT_PLAN_LOOK_H */
