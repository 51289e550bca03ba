/*
 * heap_hook.h
 *		How copies of tables get here.
 */
#ifndef GPUSORT_HEAP_HOOK_H
#define GPUSORT_HEAP_HOOK_H

#include "nodes/pathnodes.h"

/* From the hook for relation information, during the planning for a copy of a table. */
extern void gpusort_take_table_copy(Oid table, RelOptInfo *rel);

/*
 * From ProcessUtility_hook: whether the statement that begins copies tables; returns what was so
 * of the statement around it, for its end.  Other statements may run within, in functions of
 * index expressions.
 */
extern bool gpusort_set_clustering(bool copies);

/* From there, when such a statement ends: no table's entry is redirected any longer. */
extern void gpusort_end_redirection(void);

#endif							/* GPUSORT_HEAP_HOOK_H */
