/*
 * cost_hash.h
 *		What PostgreSQL's hash tables, and groups of sorted rows, cost beyond the planner's estimate.
 */
#ifndef GPUSORT_COST_HASH_H
#define GPUSORT_COST_HASH_H

#include "nodes/pathnodes.h"

/* Of a hash join: waiting for the table, and for that by which a side's rows were made unique. */
extern Cost gpusort_hash_join_extra_cost(const HashPath *hash);

/* All that a hash join of so many rows costs, its inputs and what it returns apart. */
extern Cost gpusort_hash_join_cost(double outer_rows, double inner_rows, int inner_width);

/* Rows that are to be grouped. */
typedef struct GpuSortGroups
{
	double		rows;
	double		groups;
	int			width;			/* of a group's tuple, in bytes */
	int			columns;		/* that are grouped by */
	int			references;		/* of these, of types that are passed by reference */
} GpuSortGroups;

/*
 * Of groups, which participants make of their rows first (1: none do).
 */
extern Cost gpusort_hash_extra_cost(const GpuSortGroups *all, int participants);

/* What an Agg node above rows in order costs beyond the planner's estimate. */
extern Cost gpusort_sorted_agg_extra_cost(const GpuSortGroups *all);

#endif							/* GPUSORT_COST_HASH_H */
