/*
 * index_hook.h
 *		Redirects builds of btree indexes to gpusort.
 */
#ifndef GPUSORT_INDEX_HOOK_H
#define GPUSORT_INDEX_HOOK_H

#include "nodes/pathnodes.h"

/*
 * Redirect the builds of the table's btree indexes.  Called from the hook for relation information,
 * when the planner is asked how many workers an index build gets.
 */
extern void gpusort_take_index_builds(Oid table, RelOptInfo *rel);

/*
 * Called from ProcessUtility_hook before a statement.  If it may build indexes and
 * max_parallel_maintenance_workers is 0, sets that to 1, so that index_build() asks the planner.
 * If this returns true, the hook must call gpusort_lower_workers() at the statement's end, `done`
 * telling whether it succeeded.
 */
extern bool gpusort_raise_workers(Node *statement);
extern void gpusort_lower_workers(bool done);

/*
 * Returns max_parallel_maintenance_workers as the user has set it, which is not its value while
 * gpusort_raise_workers() is in force.
 */
extern int	gpusort_maintenance_workers(void);

#endif							/* GPUSORT_INDEX_HOOK_H */
