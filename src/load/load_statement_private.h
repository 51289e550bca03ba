/*
 * load_statement_private.h
 *		Which statements are ours: what may be called for their rows, and where the rows may go.
 */
#ifndef GPUSORT_LOAD_STATEMENT_PRIVATE_H
#define GPUSORT_LOAD_STATEMENT_PRIVATE_H

#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

#include "load/load.h"
#include "load/load_values_private.h"

/* ---------- statements ---------- */

/* Reports, at DEBUG1, why a statement is left to PostgreSQL. */
extern void gpusort_load_report_left(const char *why);

/*
 * Returns the task of a statement, when PostgreSQL has begun the COPY, allocated in the current
 * context.  The task's owner and newline are not set yet.
 */
extern GpuSortLoadTask *gpusort_load_task(const GpuSortLoadStatement *load, CopyFromState copy);

/* ---------- what may be called ---------- */

/*
 * What may be called while rows are loaded: input and receive functions of types, and expressions.
 *
 * Any participant calls these, for rows in any order, and errors are caught, so that PostgreSQL's
 * own COPY can say what is wrong, and where.  So nothing is called that is not the server's own, be
 * it by way of a type, an operator class, a cast or a constraint: a function of somebody else's
 * might look at the table, and might hold something when it fails.
 */

/*
 * Returns whether fields can become values of this type here, also those of the binary format if
 * "binary" is true.
 */
extern bool gpusort_load_type_is_known(Oid type, bool binary);

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

/* ---------- partitioned tables ---------- */

/*
 * Partitioned tables, and whether rows can be routed to all of their partitions here.
 */

/*
 * Functions called why_not_... return why a statement is left to PostgreSQL, or NULL.
 */

/*
 * Looks at the table itself: the key that it is partitioned by, and, if it is a partition, those of
 * the tables that it is a partition of.
 */
extern const char *gpusort_load_why_not_routed(Relation table);

/* What is below a partitioned table. */
typedef struct GpuSortLoadTree
{
	int			count;			/* of all partitions, partitioned ones among them */
	List	   *indexed;		/* OIDs of the leaves that have indexes */
	List	   *maybe_empty;	/* OIDs of those of them that may be empty, in the same order */
} GpuSortLoadTree;

/*
 * Looks at all partitions below a table, as far as that is possible without locking them, and fills
 * *tree.  What is added or changed afterwards is noticed when a row gets there.
 */
extern const char *gpusort_load_why_not_partitions(Relation table, GpuSortLoadTree *tree);

/* Returns the constraint of a partition, as the planner leaves it, or NULL if it has none. */
extern Node *gpusort_load_partition_constraint(Relation table);

/* Returns whether the table has triggers that are fired by an INSERT, or by COPY. */
extern bool gpusort_load_has_triggers(Relation table);

#endif							/* GPUSORT_LOAD_STATEMENT_PRIVATE_H */
