/*
 * plan_pathkeys.h
 *		What the rows of a path are to be sorted by.
 */
#ifndef GPUSORT_PLAN_PATHKEYS_H
#define GPUSORT_PLAN_PATHKEYS_H

#include "nodes/pathnodes.h"

#include "cost/cost.h"

typedef struct GpuSortPathKeys
{
	GpuSortCostKeys by;
	List	   *pathkeys;
	List	   *exprs;			/* of each of them */
	double		rows;			/* to be sorted, by all participants together */
	bool		joined;			/* perhaps, by a node that looks into stored rows */
} GpuSortPathKeys;

/*
 * Look pathkeys up that the path will be sorted by; rows is left to the caller.  False with
 * *reason if some type has no ordering operator.
 */
extern bool gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
								  const char **reason);

#endif							/* GPUSORT_PLAN_PATHKEYS_H */
