/*
 * plan_collect.h
 *		The plan node "Parallel Custom Scan (GpuSort Collect)", which stands below a GpuSort:
 *
 *		Custom Scan (GpuSort)
 *		  -> Gather
 *		    -> Parallel Custom Scan (GpuSort Collect)
 *		      -> partial plan
 *
 * The participants put their rows into parts of one sort in shared memory
 * (sort_parts.h), so that normally none passes Gather, which therefore is expected to
 * return 0 rows.  GpuSort Collect returns only the rows that it could not collect.  What
 * is left to the leader is to sort and to return the rows.
 *
 * GpuSort and GpuSort Collect have the same sort columns, and all three nodes have the
 * target list of the partial plan, resjunk entries included.
 */
#ifndef GPUSORT_PLAN_COLLECT_H
#define GPUSORT_PLAN_COLLECT_H

#include "plan/plan_node.h"

/* A GpuSort Collect node that collects what the Sort node sorts. */
extern CustomScan *gpusort_make_collect(const Sort *sort);

/* A GpuSort above a Gather, which stands above a GpuSort Collect. */
extern CustomScan *gpusort_make_gathered(Gather *gather);

/* Is the plan a Gather above a GpuSort Collect?  The one below a GpuSort, or NULL. */
extern bool gpusort_is_collect_gather(const Plan *plan);
extern Gather *gpusort_find_gather(const CustomScan *scan);

/* In a finished plan: bring the Gather into its final form. */
extern void gpusort_reference_gathered(Gather *gather);

/* A Gather Merge above a Sort that do the same as a GpuSort, all in their final forms. */
extern Plan *gpusort_make_gather_merge(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_COLLECT_H */
