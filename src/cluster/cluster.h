/*
 * cluster.h
 *		Redirects the copy of a table in the order of an index to gpusort.
 */
#ifndef GPUSORT_CLUSTER_H
#define GPUSORT_CLUSTER_H

#include "nodes/pathnodes.h"

/* ---------- counters ---------- */

/* What became of the copies in the order of an index that this session was asked for. */
typedef struct GpuSortClusterCounters
{
	int64		sorted;
	int64		given_up;		/* copies begun here and then left to PostgreSQL */
	int64		left;			/* copies left to PostgreSQL from the start */
} GpuSortClusterCounters;

extern GpuSortClusterCounters gpusort_cluster_counters;

/* ---------- hooks ---------- */

/*
 * Redirect the copy of a table to gpusort, if the current statement copies tables.  Called from the
 * hook for relation information, when the planner is asked whether to sort.
 */
extern void gpusort_cluster_take_copy(Oid table, RelOptInfo *rel);

/*
 * Called from ProcessUtility_hook at a statement's beginning; `copies` says whether the statement
 * copies tables.  Returns the value for the statement around it, which the hook sets again at the
 * end: functions of index expressions may run other statements in between.
 */
extern bool gpusort_cluster_set_copies(bool copies);

/*
 * Called from ProcessUtility_hook when such a statement ends, to undo a redirection that is still
 * in force.
 */
extern void gpusort_cluster_end_redirection(void);

#endif							/* GPUSORT_CLUSTER_H */
