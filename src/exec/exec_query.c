/*
 * exec_query.c
 *		What is done when a query starts: GpuSort nodes are told of Limits, junk filters
 *		removed, and the rows counted that a worker is run for; see exec.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "tcop/dest.h"

#include "exec/exec.h"
#include "exec/exec_private.h"

/* ---------- bounds ---------- */

/*
 * PostgreSQL's Limit tells the nodes below it how many rows it will take (ExecSetTupleBound), but
 * passes over custom scans.  So when the nodes of a query have been made, we tell each GpuSort
 * about the Limit above it, if only nodes that ExecSetTupleBound() goes through lie in between.
 * The GpuSort looks into the Limit's state when it begins to sort.  By then the Limit has computed
 * its count, even if that comes from a parameter, or differs from the count of the last scan.
 *
 * A GpuSort that a worker executes below a Gather does not know the Limit above the Gather, which
 * only the leader has.  A GpuSort Collect gets the bound from its GpuSort.
 */

static void tell_below(PlanState *ps, LimitState *limit);

static void
tell_all(PlanState **nodes, int count, LimitState *limit)
{
	for (int i = 0; i < count; i++)
		tell_below(nodes[i], limit);
}

/*
 * Tells the GpuSorts below a Limit about it, descending through the same nodes as
 * ExecSetTupleBound().
 */
static void
tell_below(PlanState *ps, LimitState *limit)
{
	if (ps == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(ps))
	{
		case T_AppendState:
			tell_all(((AppendState *) ps)->appendplans, ((AppendState *) ps)->as_nplans, limit);
			break;
		case T_MergeAppendState:
			tell_all(((MergeAppendState *) ps)->mergeplans, ((MergeAppendState *) ps)->ms_nplans,
					 limit);
			break;
		case T_SubqueryScanState:
			if (ps->qual == NULL)
				tell_below(((SubqueryScanState *) ps)->subplan, limit);
			break;
		case T_ResultState:
		case T_GatherState:
		case T_GatherMergeState:
			tell_below(outerPlanState(ps), limit);
			break;
		default:
			gpusort_tell_limit(ps, limit);
			break;
	}
}

/* A tree walker that starts tell_below() at every Limit. */
static bool
visit_node(PlanState *ps, void *context)
{
	if (IsA(ps, LimitState))
		tell_below(outerPlanState(ps), (LimitState *) ps);
	return planstate_tree_walker(ps, visit_node, context);
}

void
gpusort_tell_bounds(PlanState *query)
{
	visit_node(query, NULL);
}

/* ---------- junk ---------- */

/*
 * The filter is removed only if the executor filters the very rows that the GpuSort returns, or
 * that a Limit above it passes on as they are: any other node above would expect all columns of the
 * target list.  So statements that lock or change rows keep their filters, since their plans have
 * other nodes on top.
 */

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

/* ---------- the bound of a worker ---------- */

/*
 * A Limit above a Gather or Gather Merge tells that node how many rows it will take
 * (ExecSetTupleBound), and the node tells its workers: to sort only that many rows, and to end
 * after so many.  If the Limit wants more when it is rescanned, PostgreSQL still tells the workers
 * the old number (ExecParallelReinitialize), and rows are missing.  A plan that is parallel only
 * because of us must not have that bug: its workers go on until the Gather, which knows the new
 * number, takes no more.
 */

/* A process-wide flag is enough, since a worker works for one Gather as long as it lives. */
static bool bound_is_old = false;

void
gpusort_exec_bound_is_old(void)
{
	Assert(IsParallelWorker());
	bound_is_old = true;
}

uint64
gpusort_exec_rows_to_run_for(QueryDesc *query, uint64 count)
{
	/* queries that functions run don't return their rows to the Gather */
	if (!bound_is_old || query->dest->mydest != DestTupleQueue)
		return count;
	ExecSetTupleBound(-1, query->planstate);
	return 0;
}
