/*
 * bulk.h
 *		Rows on their way out: how COPY, and queries whose rows the client gets, get here.
 */
#ifndef GPUSORT_BULK_H
#define GPUSORT_BULK_H

#include "executor/execdesc.h"
#include "nodes/plannodes.h"
#include "tcop/cmdtag.h"
#include "utils/queryenvironment.h"

/* ---------- COPY ---------- */

/*
 * Execute a COPY statement; called from ProcessUtility_hook.  Returns false if the statement is
 * left to PostgreSQL.  `is_watched` tells whether other extensions had installed hooks before ours,
 * which would not see the statement.
 */
extern bool gpusort_copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
						 QueryCompletion *completion, bool is_watched);

/* ---------- rows of a query for the client ---------- */

/*
 * Sends the rows of a query to the client.
 *
 * The messages are those of the server's receiver, but many of them are made before they are sent,
 * by parallel workers where possible.
 */

/*
 * Returns a receiver to take the place of the server's for all rows of a query that a GpuSort
 * returns, or NULL if no portal returns them to the client.  Called from ExecutorRun_hook.
 */
extern DestReceiver *gpusort_make_select_receiver(QueryDesc *query);

#endif							/* GPUSORT_BULK_H */
