/*
 * explain_join.c
 *		What EXPLAIN says about a join; see join.h.
 */
#include "postgres.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/ruleutils.h"

#include "join/join.h"
#include "pg_compat/explain.h"
#include "pg_compat/paths.h"
#include "plan/plan_node.h"

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
gpusort_explain_join(CustomScanState *css, List *ancestors, ExplainState *es)
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
