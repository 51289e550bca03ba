/*
 * exec_junk.c
 *		Returning the rows of a GpuSort without the columns that are only sorted by; see
 *		exec_junk.h.
 *
 * The filter is removed only if the executor filters the very rows that the GpuSort returns, or
 * that a Limit above it passes on as they are: any other node above would expect all columns of the
 * target list.  So statements that lock or change rows keep their filters, since their plans have
 * other nodes on top.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "exec/exec_junk.h"
#include "exec/exec_sort.h"

PlanState *
gpusort_returning_node(PlanState *ps)
{
	/* a Limit WITH TIES compares all columns of rows, so it cannot do without the last ones */
	if (IsA(ps, LimitState) &&
		((LimitState *) ps)->limitOption == LIMIT_OPTION_COUNT)
		return outerPlanState(ps);
	return ps;
}

/* Returns whether the columns that are wanted come before all junk columns. */
static bool
junk_is_last(const List *tlist)
{
	bool		any_junk = false;
	ListCell   *lc;

	foreach(lc, tlist)
	{
		const TargetEntry *column = lfirst_node(TargetEntry, lc);

		if (any_junk && !column->resjunk)
			return false;
		any_junk |= column->resjunk;
	}
	return true;
}

void
gpusort_leave_out_junk(QueryDesc *query)
{
	EState	   *estate = query->estate;
	JunkFilter *filter = estate->es_junkFilter;

	if (filter != NULL && query->operation == CMD_SELECT && estate->es_rowmarks == NULL &&
		junk_is_last(query->planstate->plan->targetlist) &&
		gpusort_return_clean_rows(gpusort_returning_node(query->planstate),
								  filter->jf_cleanTupType))
		estate->es_junkFilter = NULL;
}
