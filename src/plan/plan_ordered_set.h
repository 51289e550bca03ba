/*
 * plan_ordered_set.h
 *		The node that stands for an Agg of ordered sets above a sort of ours:
 *
 *		Custom Scan (GpuSort Ordered Set): percentile_cont(0.5) WITHIN GROUP (ORDER BY x)
 *		  -> Custom Scan (GpuSort) by x
 *
 * With GROUP BY, it stands above a sort by GROUP BY's columns and then by x, which may be a GpuSort
 * Shared whose slices cut no group.
 */
#ifndef GPUSORT_PLAN_ORDERED_SET_H
#define GPUSORT_PLAN_ORDERED_SET_H

#include "nodes/plannodes.h"

/*
 * The elements of custom_private.  The first three are about GROUP BY's columns, as in
 * GpuSortUniquePrivate.
 */
typedef enum GpuSortSetPrivate
{
	GPUSORT_SET_ATTNOS,
	GPUSORT_SET_EQOPS,
	GPUSORT_SET_COLLATIONS,
	/* one integer: whether there is no GROUP BY, not even of constants */
	GPUSORT_SET_PLAIN,
	GPUSORT_SET_FUNCTIONS		/* a GpuSortSetFunction for each column of custom_scan_tlist */
} GpuSortSetPrivate;

/* What is made of the values of a group, in their order. */
typedef enum GpuSortSetFunction
{
	GPUSORT_SET_NONE,			/* nothing that can be found by position */
	GPUSORT_SET_PERCENTILE_DISC,
	GPUSORT_SET_PERCENTILE_CONT,
	GPUSORT_SET_MODE,
	GPUSORT_SET_ROWS,			/* count(*) */
	GPUSORT_SET_VALUES,			/* count(x) */
	GPUSORT_SET_FIRST,			/* min(x), max(x) */
	GPUSORT_SET_LAST,
	GPUSORT_SET_COLUMN			/* no aggregate, but a column of the group's first row */
} GpuSortSetFunction;

/*
 * Returns whether all these Aggrefs, of a plan that is not finished, can be found by position among
 * rows in the order that one of them wants.  *mode tells whether one of them is a mode, which needs
 * all values.
 */
extern bool gpusort_are_by_position(const List *aggregates, bool *mode);

/*
 * Returns the node that takes the place of an Agg in a finished plan, or the Agg if not all of it
 * can be found by position.  The nodes below must have their final forms.
 */
extern Plan *gpusort_finish_ordered_set(Agg *agg);

#endif							/* GPUSORT_PLAN_ORDERED_SET_H */
