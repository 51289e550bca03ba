/*
 * load_safe.h
 *		What may be called while rows are loaded: types' input functions, and expressions.
 *
 * It is called by any participant, for rows in any order, and its errors are caught, so that PostgreSQL's own COPY
 * can say what is wrong where.  So nothing is called that is not the server's, be it by way of a type, an operator
 * class, a cast or a constraint: it might look at the table, and hold something when it fails.
 */
#ifndef GPUSORT_LOAD_SAFE_H
#define GPUSORT_LOAD_SAFE_H

#include "nodes/nodes.h"

/* Can fields become values of this type here? */
extern bool gpusort_load_type_is_known(Oid type);

/*
 * May an expression be evaluated here?  One over the columns of a row, as the planner has left it: with SQL functions
 * put in.
 */
extern bool gpusort_load_expression_is_safe(Node *expression);

/* ... or the constraint of a partition by hash, whose parent's key has been looked at. */
extern bool gpusort_load_constraint_is_safe(Node *expression);

/* Are values of a type compared by nobody's functions but the server's? */
extern bool gpusort_load_comparison_is_safe(Oid type);

/* ... but for sequences, whose next values are given out in the order of the rows: is there one in it? */
extern bool gpusort_load_default_is_safe(Node *expression, bool *sequence);

/*
 * Where in such a default the sequence is, if it is asked once for each row, before anything that can fail; or NULL.  With
 * the value in its place, the default can be computed again.
 */
extern Node **gpusort_load_find_sequence(Node **expression);

/*
 * Would an expression's planning call functions of others, for arguments that are constant?  That is done by each
 * participant, and again by PostgreSQL.
 */
extern bool gpusort_load_planning_is_safe(Node *expression);

#endif							/* GPUSORT_LOAD_SAFE_H */
