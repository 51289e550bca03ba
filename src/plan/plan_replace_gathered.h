/*
 * plan_replace_gathered.h
 *		Sorts of finished plans whose rows parallel workers collect instead.
 */
#ifndef GPUSORT_PLAN_REPLACE_GATHERED_H
#define GPUSORT_PLAN_REPLACE_GATHERED_H

#include "nodes/plannodes.h"

#include "plan/plan_estimate.h"

/* A finished plan that is being gone through. */
typedef struct GpuSortStatement
{
	PlannedStmt *stmt;
	bool		take_over;		/* else Sorts are left alone */
	bool		looks_only;		/* nothing is changed, but what is there is put into: */
	List	   *looks;			/* of GpuSortLook */
	const char *left_alone;		/* why Sorts are not looked at more closely, or NULL */
	int			last_node_id;	/* 0: not looked up yet */
} GpuSortStatement;

/* Of a plan that may be one of these. */
extern Plan *gpusort_replace_gathered_sort(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement);

/*
 * Have the rows of a Sort below Gather Merge, or above Gather, collected by the workers,
 * if the plan is one of these and it is worth it; else the plan as it is.  The new
 * nodes are to be brought into their final form, like those of paths.
 */
static inline Plan *
gpusort_replace_gathered(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	/* hardly any node is */
	if (!IsA(plan, GatherMerge) && !IsA(plan, Sort) && !IsA(plan, CustomScan))
		return plan;
	return gpusort_replace_gathered_sort(plan, limit, statement);
}

#endif							/* GPUSORT_PLAN_REPLACE_GATHERED_H */
