/*
 * copy_hook.h
 *		Takes COPY statements over from PostgreSQL.
 */
#ifndef GPUSORT_COPY_HOOK_H
#define GPUSORT_COPY_HOOK_H

#include "nodes/plannodes.h"
#include "tcop/cmdtag.h"
#include "utils/queryenvironment.h"

/*
 * Execute a COPY statement; called from ProcessUtility_hook.  Returns false if the statement is
 * left to PostgreSQL.  `is_watched` tells whether other extensions had installed hooks before ours,
 * which would not see the statement.
 */
extern bool gpusort_copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
						 QueryCompletion *completion, bool is_watched);

#endif							/* GPUSORT_COPY_HOOK_H */
