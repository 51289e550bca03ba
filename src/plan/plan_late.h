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
 * Return whether the rows of a sort can be fetched by TID, and fill in *fetch: of a Sort of a
 * finished plan, which may stand above a Gather and a GpuSort Collect; or of an input path that is
 * to be sorted by these keys.
 */
extern bool gpusort_plan_can_fetch(const Sort *sort, const PlannedStmt *stmt,
								   GpuSortFetch *fetch);
extern bool gpusort_path_can_fetch(PlannerInfo *root, const Path *path,
								   const GpuSortPathKeys *keys, GpuSortFetch *fetch);

/*
 * Makes a GpuSort in its final form fetch its rows, for which gpusort_plan_can_fetch() must hold.
 * width is the late_width of its estimate.
 */
extern void gpusort_make_late(CustomScan *scan, int width);

#endif							/* GPUSORT_PLAN_LATE_H */
