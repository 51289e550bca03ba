/*
 * plan_left.h
 *		Telling why a sort of a finished plan is left to PostgreSQL.
 */
#ifndef GPUSORT_PLAN_LEFT_H
#define GPUSORT_PLAN_LEFT_H

#include "plan/plan_estimate.h"

/*
 * Reports at level DEBUG1 that a sort is left to PostgreSQL, and why.  If the node is no Sort but
 * one that sorts by what this Sort does, name says what to call it; else it is NULL.
 */
extern void gpusort_tell_left(const Sort *sort, const char *name, const char *reason);

/*
 * Returns why an Agg, HashJoin, SetOp or RecursiveUnion of a finished plan has a hash table and not
 * a sort of ours, or NULL if it is another node or has too few rows.  *sort becomes the Sort that
 * could have been made, or NULL if that is not a single sort of the node's input.
 */
extern const char *gpusort_reason_for_hashing(const Plan *plan, const PlannedStmt *stmt,
											  Sort **sort);

/* Reports at level DEBUG1 why a node has a hash table, if it has one. */
extern void gpusort_tell_hashed(const Plan *plan, const PlannedStmt *stmt);

/* Reports at level DEBUG1 the sorts that an aggregate makes within itself, if it does. */
extern void gpusort_tell_left_inside(const Agg *agg);

/*
 * Returns why an aggregate sorts within itself: a list of reasons (char *), or NIL if it does not.
 */
extern List *gpusort_reasons_inside(const Agg *agg);

#endif							/* GPUSORT_PLAN_LEFT_H */
