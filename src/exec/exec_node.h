/*
 * exec_node.h
 *		What nodes that return a sort's rows do alike.
 */
#ifndef GPUSORT_EXEC_NODE_H
#define GPUSORT_EXEC_NODE_H

#include "nodes/execnodes.h"

/* Will rows be read more than once, or backward?  By the flags that a node begins with. */
extern bool gpusort_is_random_access(int eflags);

/*
 * Rows that a plan is expected to return in all participants: a partial one, for so many workers.
 */
extern double gpusort_rows_of_all(const Plan *partial, int workers);

/* Initialise the child, which is read once and forward. */
extern void gpusort_begin_child(CustomScanState *css, EState *estate, int eflags);

/*
 * For a node that reads its child's rows by position: time that is spent in the child without a row
 * of its being returned counts as the child's own, and so many rows as returned.
 */
extern void gpusort_start_in_child(PlanState *child);
extern void gpusort_stop_in_child(PlanState *child, double rows);

/*
 * Let a node return what it scans, minimal tuples, column by column, whatever its target
 * list has been made of: no projection, and the scan slot is the result.
 */
extern void gpusort_return_scanned_rows(CustomScanState *css);

#endif							/* GPUSORT_EXEC_NODE_H */
