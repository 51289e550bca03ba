/*
 * cost_hash.h
 *		What PostgreSQL's hash tables, and groups of sorted rows, cost beyond the planner's
 *		estimate.
 */
#ifndef GPUSORT_COST_HASH_H
#define GPUSORT_COST_HASH_H

#include "nodes/pathnodes.h"

/*
 * Returns what a hash join costs beyond the planner's estimate: cache misses, and the hash tables
 * by which rows of a side were made unique.
 */
extern Cost gpusort_hash_join_extra_cost(const HashPath *hash);

/*
 * Returns all that a hash join of so many rows costs, apart from its inputs and from what it
 * returns.
 */
extern Cost gpusort_hash_join_cost(double outer_rows, double inner_rows, int inner_width);

/* Rows that are to be grouped. */
typedef struct GpuSortGroups
{
	double		rows;
	double		groups;
	int			width;			/* of the tuple of a group, in bytes */
	int			columns;		/* number of columns that are grouped by */
	int			references;		/* number of these whose types are passed by reference */
} GpuSortGroups;

/*
 * Returns what hash tables of groups cost beyond the planner's estimate.  If there are several
 * participants, each makes groups of its rows first.
 */
extern Cost gpusort_hash_extra_cost(const GpuSortGroups *all, int participants);

/* Returns what an Agg node above rows in order costs beyond the planner's estimate. */
extern Cost gpusort_sorted_agg_extra_cost(const GpuSortGroups *all);

#endif							/* GPUSORT_COST_HASH_H */
