/*
 * plan_unique.h
 *		The nodes that stand for a Unique above a sort of ours, and for an Agg above that which
 *		only counts:
 *
 *		Custom Scan (GpuSort Unique)			Custom Scan (GpuSort Count)
 *		  -> Custom Scan (GpuSort)				  -> Custom Scan (GpuSort)
 *
 * They may also stand above a GpuSort Shared, of which each participant makes its slices unique, or
 * counts them.
 */
#ifndef GPUSORT_PLAN_UNIQUE_H
#define GPUSORT_PLAN_UNIQUE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/*
 * The elements of custom_private.  The first three are lists of the columns' properties, as in a
 * Unique.
 */
typedef enum GpuSortUniquePrivate
{
	GPUSORT_UNIQUE_ATTNOS,
	GPUSORT_UNIQUE_EQOPS,
	GPUSORT_UNIQUE_COLLATIONS,
	/* GpuSort Count only: for each count, whether nulls are not counted */
	GPUSORT_UNIQUE_VALUES
} GpuSortUniquePrivate;

/* The columns that are compared if the sort does not tell which rows are equal. */
typedef struct GpuSortUniqueKey
{
	int			count;
	AttrNumber *attnos;
	Oid		   *eqops;
	Oid		   *collations;
} GpuSortUniqueKey;

/* Reads the columns from custom_private. */
extern void gpusort_read_unique_key(const CustomScan *scan, GpuSortUniqueKey *key);

/*
 * Returns whether a plan is a sort of ours whose result can be read by position, and each row by
 * one participant only.
 */
extern bool gpusort_is_readable_sort(const Plan *plan);

/*
 * Makes the path of a Unique by ncolumns columns above one of our sorts, which returns so many
 * rows.  If these are all of the sort's columns, it is charged for what our node will take.
 */
extern Path *gpusort_make_unique_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *sorted,
											 int ncolumns, double rows);

/*
 * Return the node that takes the place of a Unique or an Agg in a finished plan, or that node
 * itself if ours can't stand for it.  The nodes below must have their final forms.
 */
extern Plan *gpusort_finish_unique(Unique *unique);
extern Plan *gpusort_finish_count(Agg *agg);

#endif							/* GPUSORT_PLAN_UNIQUE_H */
