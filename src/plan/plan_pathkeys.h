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
	List	   *exprs;			/* expression of each of the pathkeys */
	double		rows;			/* number to be sorted, by all participants together */
	bool		joined;			/* the rows may be joined, by a node that looks into stored rows */
	bool		estimated;
	int			width;			/* width of the rows that estimate is of, if estimated */
	GpuSortEstimate estimate;	/* for rows that don't come from pages, in any order */
} GpuSortPathKeys;

/*
 * Returns whether the values that a mergeable clause compares are in one order.
 *
 * They are not if its operator depends on more than the values, as those between timestamps with
 * and without time zone depend on the session's zone: where that sets its clocks back, what is
 * later in the one type is earlier in the other.  PostgreSQL's merge joins are made all the same,
 * and fail if they notice.  A clause that does not compare two values says nothing against an
 * order.
 */
extern bool gpusort_clause_is_order(const RestrictInfo *clause);

/* Returns whether one of the pathkeys is of this class. */
extern bool gpusort_has_class(const List *pathkeys, const EquivalenceClass *ec);

/*
 * Looks up the pathkeys that the path will be sorted by; rows is left to the caller.  Returns false
 * with *reason if some type has no ordering operator, or the members of a class have no common
 * order.
 */
extern bool gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
								  const char **reason);

#endif							/* GPUSORT_PLAN_PATHKEYS_H */
