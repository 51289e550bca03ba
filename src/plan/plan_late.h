/*
 * plan_late.h
 *		Sorts whose rows are fetched by TID when they are returned.
 */
#ifndef GPUSORT_PLAN_LATE_H
#define GPUSORT_PLAN_LATE_H

#include "plan/plan_node.h"

/* What fetching rows of a table in the order of a sort depends on. */
typedef struct GpuSortFetch
{
	Oid			relid;
	double		pages;
	double		table_rows;
	double		correlation;	/* of the table's order with the sort's, -1 to 1 */
	int			width;			/* of what is sorted instead of the rows */
	int			participants;	/* that collect it */
} GpuSortFetch;

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
 * Given the estimate of a sort of the whole rows, and of one of rows of fetch->width:
 * replace the former if fetching is expected to pay.
 */
extern void gpusort_choose_late(const GpuSortFetch *fetch, double rows, double limit_rows,
								const GpuSortEstimate *narrow, GpuSortEstimate *estimate);

/* Cost of the rows that will be fetched. */
extern Cost gpusort_cost_until(const GpuSortEstimate *estimate, double rows, double limit_rows);

/*
 * Make a node in its final form, for which that is possible, fetch its rows.  width: the
 * estimate's late_width.
 */
extern void gpusort_make_late(CustomScan *scan, int width);

#endif							/* GPUSORT_PLAN_LATE_H */
