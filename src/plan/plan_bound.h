/*
 * plan_bound.h
 *		What joining all tables of a query costs at most.
 *
 * The planner finds the best order of joins from the bottom up, and considers joins of large tables
 * that would cost many times what the whole query costs in the end.  A greedy search, which joins
 * next what looks best, finds some order of joins beforehand, and its cost tells which joins are
 * not worth considering.
 */
#ifndef GPUSORT_PLAN_BOUND_H
#define GPUSORT_PLAN_BOUND_H

#include "nodes/pathnodes.h"

/*
 * Returns the bound, or DBL_MAX if nothing is known.  The search ends when it has found a bound of
 * `enough` or less.
 */
extern Cost gpusort_join_cost_bound(PlannerInfo *root, Cost enough);

#endif							/* GPUSORT_PLAN_BOUND_H */
