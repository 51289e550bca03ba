/*
 * explain_shared.c
 *		What EXPLAIN says about a GpuSort Shared node.
 *
 * What a GpuSort says about the sort, which is done by one of the participants, what each
 * of them gets of the result, and how the rows were collected.
 */
#include "postgres.h"

#include "exec/exec_shared.h"
#include "plan/plan_shared.h"

void
gpusort_explain_shared(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	gpusort_explain_columns(css, &node->spec, node->spec.nkeys, "Sort Key", ancestors, es);
	if (node->slice_columns > 0)
		gpusort_explain_columns(css, &node->spec, node->slice_columns, "Sliced By", ancestors, es);
	else
		ExplainPropertyText("Rows To", "each participant", es);
	if (es->verbose)
		gpusort_explain_encoding(css, &node->spec, es);
	if (!es->analyze || !node->report.performed)
		return;
	gpusort_explain_report(&node->report, es);
	gpusort_explain_counts(node->counts, node->participants, "Files", es);
}
