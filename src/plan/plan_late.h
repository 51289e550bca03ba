/*
 * plan_late.h
 *		Sorts whose rows are fetched by TID when they are returned.
 */
#ifndef GPUSORT_PLAN_LATE_H
#define GPUSORT_PLAN_LATE_H

#include "nodes/plannodes.h"

#include "cost/cost_late.h"
#include "plan/plan_pathkeys.h"

/*
 * Can the rows be fetched by TID?  Of a Sort of a finished plan, which may stand above
 * Gather and GpuSort Collect; of an input path that is to be sorted by these keys.
 * Fills in *fetch.
 */
extern bool gpusort_plan_can_fetch(const Sort *sort, const PlannedStmt *stmt,
								   GpuSortFetch *fetch);
extern bool gpusort_path_can_fetch(PlannerInfo *root, const Path *path,
								   const GpuSortPathKeys *keys, GpuSortFetch *fetch);

/*
 * Make a GpuSort in its final form, for which that is possible, fetch its rows.  width: the
 * estimate's late_width.
 */
extern void gpusort_make_late(CustomScan *scan, int width);

#endif							/* GPUSORT_PLAN_LATE_H */
