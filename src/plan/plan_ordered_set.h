/*
 * plan_ordered_set.h
 *		The node that stands for an Agg of ordered sets above a sort of ours:
 *
 *		Custom Scan (GpuSort Ordered Set): percentile_cont(0.5) WITHIN GROUP (ORDER BY x)
 *		  -> Custom Scan (GpuSort) by x
 *
 * Or, with GROUP BY, above a sort by the columns of that and then by x, which may be a GpuSort Shared
 * whose slices cut no group.
 */
#ifndef GPUSORT_PLAN_ORDERED_SET_H
#define GPUSORT_PLAN_ORDERED_SET_H

#include "nodes/plannodes.h"

/* What custom_private's elements are; the first three as GpuSortUniquePrivate has them, of GROUP BY. */
typedef enum GpuSortSetPrivate
{
	GPUSORT_SET_ATTNOS,
	GPUSORT_SET_EQOPS,
	GPUSORT_SET_COLLATIONS,
	GPUSORT_SET_PLAIN,			/* of one integer: there is no GROUP BY, not even of constants */
	GPUSORT_SET_FUNCTIONS		/* of each column of custom_scan_tlist: a GpuSortSetFunction */
} GpuSortSetPrivate;

/* What is made of the values of a group, in their order. */
typedef enum GpuSortSetFunction
{
	GPUSORT_SET_NONE,			/* nothing that can be had by position */
	GPUSORT_SET_PERCENTILE_DISC,
	GPUSORT_SET_PERCENTILE_CONT,
	GPUSORT_SET_MODE,
	GPUSORT_SET_ROWS,			/* count(*) */
	GPUSORT_SET_VALUES,			/* count(x) */
	GPUSORT_SET_FIRST,			/* min(x), max(x) */
	GPUSORT_SET_LAST,
	GPUSORT_SET_COLUMN			/* of the group's first row: no aggregate */
} GpuSortSetFunction;

/*
 * Can all these Aggrefs, before the plan is finished, be had by position, of rows that come in the order
 * that one of them wants?  *mode: one needs all values for that.
 */
extern bool gpusort_are_by_position(const List *aggregates, bool *mode);

/*
 * In a finished plan, whose nodes below have their final forms: the node that takes the place of this
 * one, which is the same if nothing can be had.
 */
extern Plan *gpusort_finish_ordered_set(Agg *agg);

#endif							/* GPUSORT_PLAN_ORDERED_SET_H */
