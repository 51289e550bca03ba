/*
 * exec_junk.c
 *		Queries whose rows are a GpuSort's, without the columns that are only sorted by;
 *		see exec_junk.h.
 *
 * Only if the rows that the executor filters are those that the GpuSort returns, which a Limit
 * passes on as they are: above anything else, nodes expect the columns of the target list.  So
 * statements that lock or change rows are left alone; their plans have other nodes on top.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "exec/exec_junk.h"
#include "exec/exec_sort.h"

PlanState *
gpusort_returning_node(PlanState *ps)
{
	/* to find ties, a Limit compares rows by all of their columns */
	if (IsA(ps, LimitState) &&
		((LimitState *) ps)->limitOption == LIMIT_OPTION_COUNT)
		return outerPlanState(ps);
	return ps;
}

/* Are the columns that are wanted the first ones? */
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
		gpusort_return_clean_rows(gpusort_returning_node(query->planstate), filter->jf_cleanTupType))
		estate->es_junkFilter = NULL;
}
