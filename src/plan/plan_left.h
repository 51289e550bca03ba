/*
 * plan_left.h
 *		Telling why a sort of a finished plan is left to PostgreSQL.
 */
#ifndef GPUSORT_PLAN_LEFT_H
#define GPUSORT_PLAN_LEFT_H

#include "plan/plan_estimate.h"

/* That of a node which sorts by what a Sort does; it is called so, NULL: it is one. */
extern void gpusort_tell_left(const Sort *sort, const char *name, const char *reason);

/*
 * Why a hash table, of a finished plan's Agg, HashJoin, SetOp or RecursiveUnion, was preferred to a sort
 * of ours; NULL if it is another node or has too few rows.  *sort is what would be sorted, NULL if that is
 * not a single sort of the node's input.
 */
extern const char *gpusort_reason_for_hashing(const Plan *plan, const PlannedStmt *stmt, Sort **sort);

/* ... told, if there is one. */
extern void gpusort_tell_hashed(const Plan *plan, const PlannedStmt *stmt);

/* Those that an aggregate makes within itself, if it does. */
extern void gpusort_tell_left_inside(const Agg *agg);

/* Why it makes them: reasons (char *), or NIL. */
extern List *gpusort_reasons_inside(const Agg *agg);

#endif							/* GPUSORT_PLAN_LEFT_H */
