/*
 * load_safe.h
 *		What may be called while rows are loaded: input functions of types, and expressions.
 *
 * Any participant calls these, for rows in any order, and errors are caught, so that PostgreSQL's
 * own COPY can say what is wrong, and where.  So nothing is called that is not the server's own, be
 * it by way of a type, an operator class, a cast or a constraint: a function of somebody else's
 * might look at the table, and might hold something when it fails.
 */
#ifndef GPUSORT_LOAD_SAFE_H
#define GPUSORT_LOAD_SAFE_H

#include "nodes/nodes.h"

/* Returns whether fields can become values of this type here. */
extern bool gpusort_load_type_is_known(Oid type);

/*
 * Returns whether an expression may be evaluated here.  It must be an expression over the columns
 * of a row, as the planner has left it, so that SQL functions have been inlined.
 */
extern bool gpusort_load_expression_is_safe(Node *expression);

/*
 * Returns the same for the constraint of a partition, be it a hash partition, if the partition keys
 * above it have been looked at.
 */
extern bool gpusort_load_constraint_is_safe(Node *expression);

/* Returns whether no functions but the server's own compare values of a type. */
extern bool gpusort_load_comparison_is_safe(Oid type);

/*
 * Returns the same as gpusort_load_expression_is_safe(), but allows sequences, and says in
 * *sequence whether there is one.  The next values of sequences must be given out in the order of
 * the rows.
 */
extern bool gpusort_load_default_is_safe(Node *expression, bool *sequence);

/*
 * Returns where in such a default the next value of a sequence is computed, if that happens once
 * for each row, and before anything that can fail; or NULL.  With the value put in its place, the
 * default can be computed again.
 */
extern Node **gpusort_load_find_sequence(Node **expression);

/*
 * Returns whether an expression can be planned without calling functions of others for constant
 * arguments.  Each participant plans the expression, and PostgreSQL plans it again.
 */
extern bool gpusort_load_planning_is_safe(Node *expression);

#endif							/* GPUSORT_LOAD_SAFE_H */
