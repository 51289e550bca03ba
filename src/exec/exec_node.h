/*
 * exec_node.h
 *		What all nodes that return the rows of a sort have in common.
 */
#ifndef GPUSORT_EXEC_NODE_H
#define GPUSORT_EXEC_NODE_H

#include "nodes/execnodes.h"

/*
 * Returns whether rows may be read more than once, or backward, according to the flags that a node
 * is begun with.
 */
extern bool gpusort_is_random_access(int eflags);

/*
 * Returns how many rows all participants together are expected to get from a partial plan that runs
 * with so many workers.
 */
extern double gpusort_rows_of_all(const Plan *partial, int workers);

/* Initializes the child, which will be read only once and forward. */
extern void gpusort_begin_child(CustomScanState *css, EState *estate, int eflags);

/*
 * For a node that reads its child's rows by position instead of executing the child: time between
 * these two calls counts as the child's own in EXPLAIN ANALYZE, and `rows` as rows that the child
 * has returned.
 */
extern void gpusort_start_in_child(PlanState *child);
extern void gpusort_stop_in_child(PlanState *child, double rows);

/*
 * Makes a node return the minimal tuples that it scans, column by column, whatever its target list
 * says: there is no projection, and the scan slot is the result slot.
 */
extern void gpusort_return_scanned_rows(CustomScanState *css);

#endif							/* GPUSORT_EXEC_NODE_H */
