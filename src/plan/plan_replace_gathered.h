/*
 * plan_replace_gathered.h
 *		Sorts of finished plans whose rows parallel workers collect instead.
 */
#ifndef GPUSORT_PLAN_REPLACE_GATHERED_H
#define GPUSORT_PLAN_REPLACE_GATHERED_H

#include "nodes/plannodes.h"

#include "plan/plan_estimate.h"

/* A finished plan, and what is done with it. */
typedef struct GpuSortStatement
{
	PlannedStmt *stmt;
	bool		take_over;		/* replace Sorts; else they are left alone */
	bool		looks_only;		/* change nothing, but put what is there into looks */
	List	   *looks;			/* list of GpuSortLook */
	const char *left_alone;		/* why Sorts are not looked at more closely, or NULL */
	int			last_node_id;	/* greatest node id; 0 if not looked up yet */
} GpuSortStatement;

/* Does what gpusort_replace_gathered() does; plan is a GatherMerge, Sort or CustomScan. */
extern Plan *gpusort_replace_gathered_sort(Plan *plan, GpuSortLimit limit,
										   GpuSortStatement *statement);

/*
 * Has the workers collect the rows of a Sort below Gather Merge, or above Gather, if the plan is
 * one of these and it is worth it; else returns the plan as it is.  The new nodes are still to be
 * brought into their final form, like those of paths.
 */
static inline Plan *
gpusort_replace_gathered(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	/* Hardly any node is one of these. */
	if (!IsA(plan, GatherMerge) && !IsA(plan, Sort) && !IsA(plan, CustomScan))
		return plan;
	return gpusort_replace_gathered_sort(plan, limit, statement);
}

#endif							/* GPUSORT_PLAN_REPLACE_GATHERED_H */
