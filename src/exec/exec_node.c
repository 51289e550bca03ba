/*
 * exec_node.c
 *		What all nodes that return the rows of a sort have in common.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/optimizer.h"

#include "exec/exec_node.h"
#include "pg_compat/executor.h"

/* What our nodes provide by themselves, so that the child need not support it. */
#define RANDOM_ACCESS	(EXEC_FLAG_REWIND | EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)

bool
gpusort_is_random_access(int eflags)
{
	return (eflags & RANDOM_ACCESS) != 0;
}

/*
 * The inverse of get_parallel_divisor(), by which the planner divides the rows of a partial path.
 */
double
gpusort_rows_of_all(const Plan *partial, int workers)
{
	double		leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0;

	return partial->plan_rows * (workers + leader);
}

void
gpusort_begin_child(CustomScanState *css, EState *estate, int eflags)
{
	outerPlanState(css) = ExecInitNode(outerPlan(css->ss.ps.plan), estate,
									   eflags & ~RANDOM_ACCESS);
}

void
gpusort_start_in_child(PlanState *child)
{
	if (child->instrument != NULL)
		InstrStartNode(child->instrument);
}

void
gpusort_stop_in_child(PlanState *child, double rows)
{
	if (child->instrument != NULL)
		InstrStopNode(child->instrument, rows);
}

void
gpusort_return_scanned_rows(CustomScanState *css)
{
	PlanState  *ps = &css->ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;

	gpusort_init_slots(css, ExecTypeFromTL(scan->custom_scan_tlist), &TTSOpsMinimalTuple);
	ps->ps_ProjInfo = NULL;
	ps->resultops = ps->scanops;
	ps->resultopsfixed = ps->scanopsfixed;
	ps->resultopsset = ps->scanopsset;
}
