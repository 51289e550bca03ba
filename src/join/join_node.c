/*
 * join_node.c
 *		What the nodes that join have in common; see join.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"

#include "join/join.h"
#include "plan/plan_node.h"

/* An expression walker that notes which sides' columns are used, in wanted[]. */
static bool
find_wanted(Node *expr, void *arg)
{
	bool	   *wanted = arg;

	if (expr == NULL)
		return false;
	if (IsA(expr, Var))
	{
		if (((const Var *) expr)->varno == OUTER_VAR)
			wanted[0] = true;
		if (((const Var *) expr)->varno == INNER_VAR)
			wanted[1] = true;
		return false;
	}
	return expression_tree_walker(expr, find_wanted, arg);
}

static ExprState *
begin_clauses(GpuSortJoinNode *node, GpuSortJoinExprs which)
{
	PlanState  *ps = &node->css.ss.ps;
	List	   *clauses = list_nth(((const CustomScan *) ps->plan)->custom_exprs, which);

	(void) find_wanted((Node *) clauses, node->wanted);
	return ExecInitQual(clauses, ps);
}

void
gpusort_begin_join_node(GpuSortJoinNode *node, GpuSortReportJoin make_report)
{
	PlanState  *ps = &node->css.ss.ps;
	List	   *columns = ((const CustomScan *) ps->plan)->custom_scan_tlist;

	ps->ps_ProjInfo = ExecBuildProjectionInfo(columns, ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps, NULL);
	(void) find_wanted((Node *) columns, node->wanted);
	node->filter = begin_clauses(node, GPUSORT_JOIN_FILTER);
	node->qual = begin_clauses(node, GPUSORT_JOIN_OTHER);
	node->make_report = make_report;
}

/* ---------- shared memory ---------- */

bool
gpusort_share_join(GpuSortJoinNode *node, ParallelContext *pcxt, void *coordinate)
{
	/* without a segment there are no workers; else each participant may join for itself */
	if (pcxt->seg == NULL || !node->css.ss.ps.plan->parallel_aware)
		return false;
	node->shared = coordinate;
	return true;
}

void
gpusort_init_join_counts(GpuSortJoinNode *node)
{
	pg_atomic_init_u64(&node->shared->ranges, 0);
	pg_atomic_init_u64(&node->shared->matches, 0);
}

void
gpusort_attach_join(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	if (css->ss.ps.plan->parallel_aware)
		((GpuSortJoinNode *) css)->shared = coordinate;
}

void
gpusort_count_join(GpuSortJoinNode *node)
{
	if (node->counted || !node->make_report(node))
		return;
	node->report.performed = true;
	if (node->shared == NULL)
		return;
	node->counted = true;
	pg_atomic_fetch_add_u64(&node->shared->ranges, node->report.ranges);
	pg_atomic_fetch_add_u64(&node->shared->matches, node->report.matches);
}

/*
 * Takes the counts of all participants from shared memory, which is about to go, and returns no
 * more rows.  Without shared memory, this may only be the end of a FETCH: more rows may be asked
 * for.
 */
void
gpusort_detach_join(CustomScanState *css)
{
	GpuSortJoinNode *node = (GpuSortJoinNode *) css;

	gpusort_count_join(node);
	if (node->shared == NULL)
		return;
	node->report.ranges = pg_atomic_read_u64(&node->shared->ranges);
	node->report.matches = pg_atomic_read_u64(&node->shared->matches);
	node->shared = NULL;
	node->done = true;
}
