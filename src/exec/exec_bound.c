/*
 * exec_bound.c
 *		Telling GpuSort nodes which Limit takes their rows; see exec_bound.h.
 *
 * PostgreSQL's Limit tells the nodes below it how many rows it will take (ExecSetTupleBound), but
 * passes over custom scans.  So when the nodes of a query have been made, we tell each GpuSort
 * about the Limit above it, if only nodes that ExecSetTupleBound() goes through lie in between.
 * The GpuSort looks into the Limit's state when it begins to sort.  By then the Limit has computed
 * its count, even if that comes from a parameter, or differs from the count of the last scan.
 *
 * A GpuSort that a worker executes below a Gather does not know the Limit above the Gather, which
 * only the leader has.  A GpuSort Collect gets the bound from its GpuSort.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "exec/exec_bound.h"
#include "exec/exec_sort.h"

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
