/*
 * insert_hook.h
 *		How INSERT ... SELECT gets here.
 */
#ifndef GPUSORT_INSERT_HOOK_H
#define GPUSORT_INSERT_HOOK_H

#include "executor/executor.h"

#include "pg_compat/executor.h"

/*
 * Called by ExecutorRun_hook: returns whether an INSERT, which has been started, has an input whose
 * rows may come from a GpuSort.
 */
extern bool gpusort_insert_is_ours(const QueryDesc *query, ScanDirection direction);

/*
 * Has the executor run such an INSERT.  If the rows do come from a GpuSort, puts them into the
 * table by whole pages.
 */
extern void gpusort_run_insert(ExecutorRun_hook_type executor, GPUSORT_EXECUTOR_RUN_PARAMETERS);

#endif							/* GPUSORT_INSERT_HOOK_H */
