/*
 * plan_unique.h
 *		The nodes that stand for a Unique above a sort of ours, and for an Agg above that which only
 *		counts:
 *
 *		Custom Scan (GpuSort Unique)			Custom Scan (GpuSort Count)
 *		  -> Custom Scan (GpuSort)				  -> Custom Scan (GpuSort)
 *
 * Or above a GpuSort Shared, whose slices each participant makes unique, or counts.
 */
#ifndef GPUSORT_PLAN_UNIQUE_H
#define GPUSORT_PLAN_UNIQUE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* What custom_private's elements are: lists of the columns' properties, as a Unique has them. */
typedef enum GpuSortUniquePrivate
{
	GPUSORT_UNIQUE_ATTNOS,
	GPUSORT_UNIQUE_EQOPS,
	GPUSORT_UNIQUE_COLLATIONS,
	GPUSORT_UNIQUE_VALUES		/* of GpuSort Count: for each count, whether nulls don't */
} GpuSortUniquePrivate;

/* The columns that are compared, where the sort does not tell. */
typedef struct GpuSortUniqueKey
{
	int			count;
	AttrNumber *attnos;
	Oid		   *eqops;
	Oid		   *collations;
} GpuSortUniqueKey;

extern void gpusort_read_unique_key(const CustomScan *scan, GpuSortUniqueKey *key);

/* A sort whose result a participant reads by position, each row by one. */
extern bool gpusort_is_readable_sort(const Plan *plan);

/*
 * The path of a Unique by ncolumns above one of our sorts, which has so many rows in the end.  Where
 * these are all of the sort's columns it is charged for what its node will take.
 */
extern Path *gpusort_make_unique_sorted_path(PlannerInfo *root, RelOptInfo *rel, Path *sorted,
											 int ncolumns, double rows);

/*
 * In a finished plan, whose nodes below have their final forms: the node that takes the place of this
 * one, which is the same if nothing can be had.
 */
extern Plan *gpusort_finish_unique(Unique *unique);
extern Plan *gpusort_finish_count(Agg *agg);

#endif							/* GPUSORT_PLAN_UNIQUE_H */
