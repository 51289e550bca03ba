/*
 * join_node.c
 *		What the nodes that join have in common, and what EXPLAIN says about them; see join.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/ruleutils.h"

#include "join/join.h"
#include "pg_compat/explain.h"
#include "pg_compat/paths.h"
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

/* ---------- EXPLAIN ---------- */

static const char *
name_of_type(JoinType type)
{
	switch (type)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_FULL:
			return "Full";
		case JOIN_RIGHT:
			return "Right";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			return gpusort_is_right_anti(type) ? "Right Anti" : "???";
	}
}

static void
explain_clauses(CustomScanState *css, GpuSortJoinExprs which, const char *label, List *ancestors,
				ExplainState *es)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;
	List	   *clauses = list_nth(scan->custom_exprs, which);
	List	   *context;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	ExplainPropertyText(label, deparse_expression((Node *) make_ands_explicit(clauses), context,
												  gpusort_explain_prefix(es), false), es);
}

/* Shows how many rows a filter has removed, per loop, as the server does for its own joins. */
static void
explain_removed(CustomScanState *css, GpuSortJoinExprs which, const char *label, double rows,
				ExplainState *es)
{
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	double		loops;

	if (!es->analyze || css->ss.ps.instrument == NULL ||
		list_nth(scan->custom_exprs, which) == NIL)
		return;
	loops = css->ss.ps.instrument->nloops;
	if (rows > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat(label, NULL, loops > 0 ? rows / loops : 0, 0, es);
}

static void
explain_report(const GpuSortJoinReport *report, ExplainState *es)
{
	if (report->streamed)
		ExplainPropertyText("Read", "row by row", es);
	if (report->merged)
		ExplainPropertyText("Read", "in the order of both sides", es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		gpusort_explain_indent(es);
		appendStringInfo(es->str, "Ranges: " UINT64_FORMAT "  Matches: " UINT64_FORMAT,
						 report->ranges, report->matches);
		if (!report->streamed)
			appendStringInfo(es->str, "  Pieces: " UINT64_FORMAT, report->pieces);
		appendStringInfoChar(es->str, '\n');
		return;
	}
	ExplainPropertyInteger("Ranges", NULL, report->ranges, es);
	ExplainPropertyInteger("Matches", NULL, report->matches, es);
	ExplainPropertyInteger("Pieces", NULL, report->streamed ? 0 : report->pieces, es);
}

void
gpusort_join_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortJoinNode *node = (GpuSortJoinNode *) css;
	const CustomScan *scan = (const CustomScan *) css->ss.ps.plan;
	JoinType	type = list_nth_int(linitial(scan->custom_private), GPUSORT_JOIN_TYPE);

	/* the query may have stopped before the last row, where nothing was counted yet */
	if (es->analyze)
		gpusort_count_join(node);
	ExplainPropertyText("Join Type", name_of_type(type), es);
	explain_clauses(css, GPUSORT_JOIN_CLAUSES, "Join Cond", ancestors, es);
	explain_clauses(css, GPUSORT_JOIN_FILTER, "Join Filter", ancestors, es);
	explain_removed(css, GPUSORT_JOIN_FILTER, "Rows Removed by Join Filter",
					css->ss.ps.instrument != NULL ? css->ss.ps.instrument->nfiltered1 : 0, es);
	explain_clauses(css, GPUSORT_JOIN_OTHER, "Filter", ancestors, es);
	explain_removed(css, GPUSORT_JOIN_OTHER, "Rows Removed by Filter",
					css->ss.ps.instrument != NULL ? css->ss.ps.instrument->nfiltered2 : 0, es);
	if (es->analyze && node->report.performed)
		explain_report(&node->report, es);
}
