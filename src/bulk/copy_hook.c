/*
 * copy_hook.c
 *		Takes COPY statements over from PostgreSQL; see copy_hook.h.
 *
 * A statement that we take over reaches neither the server's function for utility commands nor the
 * hooks that other extensions had installed before ours.  Such hooks may audit, count or forbid
 * statements, so COPY is left to PostgreSQL if there are any.  Hooks that were installed later are
 * called before ours, and see all statements.
 */
#include "postgres.h"

#include "access/xact.h"
#include "nodes/parsenodes.h"

#include "bulk/copy_hook.h"
#include "bulk/copy_statement.h"
#include "bulk/copy_to.h"
#include "load/copy_from.h"
#include "settings.h"

static bool
copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
	 QueryCompletion *completion)
{
	const CopyStmt *stmt = (const CopyStmt *) pstmt->utilityStmt;
	ParseState *pstate = make_parsestate(NULL);
	GpuSortCopyStatement out;
	GpuSortLoadStatement in;
	bool		is_ours = true;
	uint64		rows = 0;

	pstate->p_sourcetext = text;
	pstate->p_queryEnv = environment;
	if (gpusort_copy_is_ours(stmt, pstate, &out))
		rows = gpusort_copy_to(&out, pstmt->stmt_location, pstmt->stmt_len);
	else if (gpusort_load_is_ours(stmt, pstate, &in))
		rows = gpusort_copy_from(&in);
	else
		is_ours = false;
	free_parsestate(pstate);
	if (is_ours && completion != NULL)
		SetQueryCompletion(completion, CMDTAG_COPY, rows);
	return is_ours;
}

static bool
is_wanted(bool is_watched)
{
	if (!gpusort_enabled || !gpusort_enable_copy || IsInParallelMode())
		return false;
	if (!is_watched)
		return true;
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves COPY to PostgreSQL: an extension that was loaded before watches commands")));
	return false;
}

bool
gpusort_copy(const PlannedStmt *pstmt, const char *text, QueryEnvironment *environment,
			 QueryCompletion *completion, bool is_watched)
{
	return is_wanted(is_watched) && copy(pstmt, text, environment, completion);
}
