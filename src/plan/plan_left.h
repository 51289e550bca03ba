/*
 * plan_left.h
 *		Telling why a sort of a finished plan is left to PostgreSQL.
 */
#ifndef GPUSORT_PLAN_LEFT_H
#define GPUSORT_PLAN_LEFT_H

#include "nodes/plannodes.h"

/* That of a Sort or IncrementalSort node. */
extern void gpusort_tell_left(const Sort *sort, const char *reason);

/* Those that an aggregate makes within itself, if it does. */
extern void gpusort_tell_left_inside(const Agg *agg);

/* Why it makes them: reasons (char *), or NIL. */
extern List *gpusort_reasons_inside(const Agg *agg);

#endif							/* GPUSORT_PLAN_LEFT_H */
