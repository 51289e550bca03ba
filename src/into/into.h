/*
 * into.h
 *		Sorted rows into a table, by whole pages: how the rows of statements get here.
 */
#ifndef GPUSORT_INTO_H
#define GPUSORT_INTO_H

#include "executor/execdesc.h"
#include "executor/executor.h"

#include "pg_compat/executor.h"

/* ---------- INSERT ... SELECT ---------- */

/*
 * Called by ExecutorRun_hook: returns whether an INSERT, which has been started, has an input whose
 * rows may come from a GpuSort.
 */
extern bool gpusort_insert_is_ours(const QueryDesc *query, ScanDirection direction);

/*
 * Has the executor run such an INSERT.  If the rows do come from a GpuSort, puts them into the
 * table by whole pages.
 */
extern void gpusort_into_run_insert(ExecutorRun_hook_type executor,
									GPUSORT_EXECUTOR_RUN_PARAMETERS);

/* ---------- queries that fill a new table ---------- */

/*
 * Called by ExecutorRun_hook: returns a receiver for all rows of a query that a GpuSort returns, to
 * be used in place of the server's receiver, which is that of CREATE TABLE AS, SELECT INTO, or a
 * materialized view.  Returns NULL if the server's receiver is to be used.
 */
extern DestReceiver *gpusort_make_into_receiver(QueryDesc *query);

/* Called by object_access_hook: notes that a table has been made. */
extern void gpusort_note_made_table(Oid table);

#endif							/* GPUSORT_INTO_H */
