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

/* The table by itself: what it is partitioned by, and what it says of its rows if it is a partition. */
extern const char *gpusort_load_why_not_routed(Relation table);

/* What is below one. */
typedef struct GpuSortLoadTree
{
	int			count;			/* of partitions, and what they are partitioned into */
	List	   *indexed;		/* those with indexes */
	List	   *maybe_empty;	/* ... that are new, or seem to be empty, in the same order */
} GpuSortLoadTree;

/*
 * All below it, as far as can be told without locking them.  What was added or changed since then is seen when a row gets
 * there.
 */
extern const char *gpusort_load_why_not_partitions(Relation table, GpuSortLoadTree *tree);

/* A partition's constraint, as the planner leaves it, or NULL: there is none. */
extern Node *gpusort_load_partition_constraint(Relation table);

/* Are there triggers that an insert, or COPY, fires? */
extern bool gpusort_load_has_triggers(Relation table);

#endif							/* GPUSORT_LOAD_TREE_H */
