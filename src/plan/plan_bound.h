/*
 * plan_bound.h
 *		What joining all tables of a query costs at most.
 *
 * The planner finds the best order of joins from the bottom up, and considers joins of large tables that
 * would cost many times what the whole query does in the end.  An order of joins that is found by going on with
 * what looks best tells so before.
 */
#ifndef GPUSORT_PLAN_BOUND_H
#define GPUSORT_PLAN_BOUND_H

#include "nodes/pathnodes.h"

/* DBL_MAX if nothing is known.  It is not looked for any further than down to what is enough. */
extern Cost gpusort_join_cost_bound(PlannerInfo *root, Cost enough);

#endif							/* GPUSORT_PLAN_BOUND_H */
