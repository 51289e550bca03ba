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
	bool		estimated;
	int			width;			/* of the rows that it is of */
	GpuSortEstimate estimate;	/* if they don't come from pages, in any order */
} GpuSortPathKeys;

/*
 * Are the values that a mergeable clause compares in one order?  Not if its operator asks for more than the values, as
 * those between timestamps with time zone and others ask for the session's zone: where that sets its clocks
 * back, what is later in the one type is earlier in the other.  PostgreSQL's merge joins take their chance,
 * and fail if they notice.  A clause that compares no two values says nothing against an order.
 */
extern bool gpusort_clause_is_order(const RestrictInfo *clause);

/* Is one of the pathkeys of this class? */
extern bool gpusort_has_class(const List *pathkeys, const EquivalenceClass *ec);

/*
 * Look pathkeys up that the path will be sorted by; rows is left to the caller.  False with
 * *reason if some type has no ordering operator, or the members of a class have no common order.
 */
extern bool gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
								  const char **reason);

#endif							/* GPUSORT_PLAN_PATHKEYS_H */
