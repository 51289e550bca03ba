/*
 * index_hook.h
 *		How btree builds get to us.
 */
#ifndef GPUSORT_INDEX_HOOK_H
#define GPUSORT_INDEX_HOOK_H

#include "nodes/pathnodes.h"

/* From the hook for relation information, during the planning for an index build. */
extern void gpusort_take_index_builds(Oid table, RelOptInfo *rel);

/*
 * From ProcessUtility_hook: have the planner asked by a statement that builds indexes.  If true,
 * the end of the statement has to be told, and whether it was done.
 */
extern bool gpusort_raise_workers(Node *statement);
extern void gpusort_lower_workers(bool done);

/*
 * max_parallel_maintenance_workers as the user has it: while a statement builds indexes it may be
 * another one.
 */
extern int	gpusort_maintenance_workers(void);

#endif							/* GPUSORT_INDEX_HOOK_H */
