/*
 * plan_collect.h
 *		The plan node "Parallel Custom Scan (GpuSort Collect)", which stands below a GpuSort:
 *
 *		Custom Scan (GpuSort)
 *		  -> Gather
 *		    -> Parallel Custom Scan (GpuSort Collect)
 *		      -> partial plan
 *
 * The participants put their rows into parts of one sort in shared memory (sort_parts.h).  So
 * normally no row passes the Gather, which is expected to return 0 rows: GpuSort Collect returns
 * only the rows that it could not collect.  The leader has to sort the rows and to return them.
 *
 * GpuSort and GpuSort Collect have the same sort columns, and all three nodes have the target list
 * of the partial plan, resjunk entries included.
 */
#ifndef GPUSORT_PLAN_COLLECT_H
#define GPUSORT_PLAN_COLLECT_H

#include "plan/plan_node.h"

/* Makes a GpuSort Collect node that collects what the Sort node sorts. */
extern CustomScan *gpusort_make_collect(const Sort *sort);

/* Makes a GpuSort above a Gather, which stands above a GpuSort Collect. */
extern CustomScan *gpusort_make_gathered(Gather *gather);

/* Returns whether a plan is a Gather above a GpuSort Collect. */
extern bool gpusort_is_collect_gather(const Plan *plan);
/* Returns such a Gather below a GpuSort, or NULL. */
extern Gather *gpusort_find_gather(const CustomScan *scan);

/* Brings the Gather of a finished plan into its final form. */
extern void gpusort_reference_gathered(Gather *gather);

/*
 * Makes a Gather Merge above a Sort that do the same as a GpuSort above a Gather; all are in their
 * final forms.
 */
extern Plan *gpusort_make_gather_merge(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_COLLECT_H */
