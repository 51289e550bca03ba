/*
 * load_tree.h
 *		Partitioned tables, and whether rows can be routed to all of their partitions here.
 */
#ifndef GPUSORT_LOAD_TREE_H
#define GPUSORT_LOAD_TREE_H

#include "nodes/nodes.h"
#include "nodes/pg_list.h"
#include "utils/rel.h"

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

#endif							/* GPUSORT_LOAD_TREE_H */
