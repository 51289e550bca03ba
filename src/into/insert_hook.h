/*
 * insert_hook.h
 *		How INSERT ... SELECT gets here.
 */
#ifndef GPUSORT_INSERT_HOOK_H
#define GPUSORT_INSERT_HOOK_H

#include "executor/executor.h"

#include "pg_compat/executor.h"

/*
 * From ExecutorRun_hook: whether the rows of an INSERT, which has been started, may be a
 * GpuSort's.
 */
extern bool gpusort_insert_is_ours(const QueryDesc *query, ScanDirection direction);

/* Have such an INSERT run by the executor, and put the rows into the table if they are. */
extern void gpusort_run_insert(ExecutorRun_hook_type executor, GPUSORT_EXECUTOR_RUN_PARAMETERS);

#endif							/* GPUSORT_INSERT_HOOK_H */
