/*
 * copy_hook.h
 *		How COPY gets to us.
 */
#ifndef GPUSORT_COPY_HOOK_H
#define GPUSORT_COPY_HOOK_H

#include "nodes/plannodes.h"
#include "tcop/cmdtag.h"
#include "utils/queryenvironment.h"

/*
 * From ProcessUtility_hook: do a COPY; false: it is PostgreSQL's.  is_watched tells whether hooks
 * of others were installed before ours, which would not see it.
 */
extern bool gpusort_copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
						 QueryCompletion *completion, bool is_watched);

#endif							/* GPUSORT_COPY_HOOK_H */
